#!/usr/bin/env bash
# wordllama: a model of embeddings that ships inside the package still cannot be loaded without the network.
#
# Guess: the wheel of wordllama contains the weights of its default model with 256 dimensions and the configuration of its
# tokenizer, so that WordLlama.load() works on a machine that cannot reach Hugging Face.
#
# Seen (wordllama 0.4.0.post1, Python 3.11): FileNotFoundError, "Tokenizer file 'l2_supercat_tokenizer_config.json' not found".
# The file is there, in the folder "tokenizers"; load() looks for it in a folder "tokenizer" and then in its cache. The weights
# are found. With a copy of the file in ~/.cache/wordllama/tokenizers the same call answers with vectors of 256 numbers.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export HOME="$dir" HF_HUB_OFFLINE=1
python3 -m venv venv
venv/bin/pip --quiet --disable-pip-version-check install wordllama==0.4.0.post1
load() {
	venv/bin/python -c 'from wordllama import WordLlama
print(WordLlama.load(disable_download=True).embed(["giá vàng hôm nay"]).shape)' 2>&1 | tail -1 || true
}
package=$(venv/bin/python -c 'import wordllama, os; print(os.path.dirname(wordllama.__file__))')
shipped=$(cd "$package" && find . -name '*.safetensors' -o -name '*tokenizer_config.json' | sort | tr '\n' ' ')
alone=$(load)
mkdir -p "$HOME/.cache/wordllama/tokenizers"
cp "$package"/tokenizers/*.json "$HOME/.cache/wordllama/tokenizers/"
copied=$(load)
echo "wordllama 0.4.0.post1, $(venv/bin/python --version)"
printf '%s\n' "shipped: $shipped" "as installed: $alone" "with a copy in the cache: $copied"
case "$shipped/$alone/$copied" in
*tokenizers/l2_supercat_tokenizer_config.json*weights/l2_supercat_256.safetensors*FileNotFoundError*not\ found*"(1, 256)") ;;
*) echo "changed"; exit 1 ;;
esac
