# SPDX-License-Identifier: GPL-2.0
# bash completion for swap-kunit: `. swapkunit/completion.bash`

_swap_kunit()
{
	local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} last=${COMP_WORDS[COMP_CWORD-1]}
	local current=${COMP_WORDS[COMP_CWORD]} top words list=
	top=$(dirname "$(readlink -f "$(command -v "$program")")")

	case $last in
	--ksrc|--out|--tree|--kunitconfig)
		mapfile -t COMPREPLY < <(compgen -o dirnames -- "$current")
		return ;;
	--config|--configs)
		words=$(cd "$top/configs" && printf '%s ' *.config)
		words=${words//.config/}
		[ "$last" = --config ] || words="plain $words"
		list=${current%"${current##*,}"} ;;
	--kernel|--kernels)
		words=$(sed -n 's/^series = "\(.*\)"/\1/p' "$top/configs/kernels.toml")
		[ "$last" = --kernel ] || list=${current%"${current##*,}"} ;;
	*)
		if [ "$COMP_CWORD" = 1 ]; then
			words=$("$program" --help | sed -n 's/^    \([a-z]\+\) .*/\1/p')
		else
			words=$("$program" "$verb" --help | grep -o -- '--[a-z-]*' | sort -u)
		fi ;;
	esac
	# list: what stands before the last comma of a comma list
	mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${current#"$list"}")
}
complete -F _swap_kunit swap-kunit ./swap-kunit
