"""Where data sets come from: drawn, in files, on OpenML; `datasets` puts them under names."""
