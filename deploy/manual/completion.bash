# Completes the command line of @PROGRAM@ in bash; made from its --help.
_@FUNCTION@() {
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command="" words="" key i
    # The commands, and each COMMAND/OPTION with its value: - without an argument, file, any, or the words that it takes.
    local commands="@COMMANDS@"
    local -A values=(
@VALUES@
    )
    # bash takes the = of --option=value for a word of its own.
    if [[ $word == = ]]; then
        word=""
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ " $commands " != *" ${COMP_WORDS[i]} "* ]] || command=${COMP_WORDS[i]}
    done
    # own: the options are those of the command.
    local own=$command
    [[ ${values[$own/--help]-} ]] || own=""
    COMPREPLY=()
    case ${values[$own/$option]--} in
    any) return ;;
    file)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    -)
        if [[ $word != -* && $command == "" && $commands != "" ]]; then
            words=$commands
        else
            for key in "${!values[@]}"; do
                [[ $key == "$own"/* ]] || continue
                [[ ${values[$key]} == - ]] || key+="="
                words+=" ${key#*/}"
            done
        fi
        ;;
    *) words=${values[$own/$option]//|/ } ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort)
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _@FUNCTION@ @PROGRAM@
