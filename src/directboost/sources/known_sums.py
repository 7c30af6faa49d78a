"""SHA-256 sums of the .npz files that the experiments and benchmarks were run on."""

#: By the name of the set. Another file may hold the same set in another form.
SUMS = {
    "thyroid": "f76b256430f6501c359b95781ec585d7bb8995490888a23af2203273700e49c6",
    "dna": "142dc31f138be9a2e40e0212805497898e358ce0e2f16f5901c28baaddb85b91",
    "glass": "d88c745ee72b3a1df81834d795c3355e0fb61d215fea41d6a8a3a60c25c0b51f",
    "svmguide2": "2db5a8bbf670d97b2425635cd46aefc2fa28ec9def28ab5e410e66c22490fd87",
    "svmguide4": "57220806a3721769c44d26106b3ab4665f17bf087050854e5b5d6af2b7ab0784",
    "optdigits": "b4d25c94b9203a692689df237be2d7de341963713f0098c2b7c21eba2ff100bb",
    "segment": "a6f9eba5504d0a7928e666149b7ba20b777a7b85fe9cbbf491d1f8161eb0629d",
    "usps": "b479581aab4a1ceacbab7d9c08a1f533e82b0cbbd195e123e39bb537531313d4",
    "pendigits": "0515d57eef38a735ab1d5b6b1ac1442c524334472489466a1fdbeed89c71c712",
    "vowel": "24258c8417727ae2889b5d90f9fe232e3519ef1ea83827f1718150766e8dd5d7",
    "isolet": "6f355874935676589c50da1e4030ab1d3275209fbc40f3f39863ea397e6cda6d",
    "mnist": "9308ba6cf7bb9710e7e3cf1f5300971f46a1c6f65d4fcea30499dcd2d233d70f",
    "scene15_centrist": "8dd1f58e699bd69514f51d70bce451a5bf6b0d3c9c751c3fa363e7430e89990d",
    "gtsrb_gray40": "475c78db44f8175d87cabb0b181b31660707ab5dfee0843271609cd32679a3c7",
    "letter": "4394ee4efe5eeef4507288fe985b39f122a82fa31cc81e35cf4bbc6634a3451c",
    "satimage": "1a23fc21af2791b515443db9da5ae964ed0b5779d5de5b4a18a751397db9f955",
    "covtype": "9a379f86f03803d788b6387746d13f098632470655403561d7aabecec12a9f2c",
    "yeast_multilabel": "f0501059cca9324cf526832fa4b16bc566eba6d9b55392197f7671181c8a43ec",
    "scene_multilabel": "c40b7681c60398b49c557d2b293d9a449b16d41a87fc738f2a53af92caffaa14",
    "emotions_multilabel": "e7e9a6d0177ff7c1b2f681350c5f6db5ec1be361d86cf28b8a01c061e4cae090",
}
