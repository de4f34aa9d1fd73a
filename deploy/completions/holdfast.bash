_holdfast() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="holdfast"
                ;;
            holdfast,adopt)
                cmd="holdfast__subcmd__adopt"
                ;;
            holdfast,agent)
                cmd="holdfast__subcmd__agent"
                ;;
            holdfast,check)
                cmd="holdfast__subcmd__check"
                ;;
            holdfast,demo)
                cmd="holdfast__subcmd__demo"
                ;;
            holdfast,egress)
                cmd="holdfast__subcmd__egress"
                ;;
            holdfast,help)
                cmd="holdfast__subcmd__help"
                ;;
            holdfast,lab)
                cmd="holdfast__subcmd__lab"
                ;;
            holdfast,node-check)
                cmd="holdfast__subcmd__node__subcmd__check"
                ;;
            holdfast,plan)
                cmd="holdfast__subcmd__plan"
                ;;
            holdfast,release)
                cmd="holdfast__subcmd__release"
                ;;
            holdfast,status)
                cmd="holdfast__subcmd__status"
                ;;
            holdfast,watch)
                cmd="holdfast__subcmd__watch"
                ;;
            holdfast__subcmd__egress,audit)
                cmd="holdfast__subcmd__egress__subcmd__audit"
                ;;
            holdfast__subcmd__egress,collect)
                cmd="holdfast__subcmd__egress__subcmd__collect"
                ;;
            holdfast__subcmd__egress,explain)
                cmd="holdfast__subcmd__egress__subcmd__explain"
                ;;
            holdfast__subcmd__egress,help)
                cmd="holdfast__subcmd__egress__subcmd__help"
                ;;
            holdfast__subcmd__egress,what-if)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if"
                ;;
            holdfast__subcmd__egress__subcmd__help,audit)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__audit"
                ;;
            holdfast__subcmd__egress__subcmd__help,collect)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__collect"
                ;;
            holdfast__subcmd__egress__subcmd__help,explain)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__explain"
                ;;
            holdfast__subcmd__egress__subcmd__help,help)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__help"
                ;;
            holdfast__subcmd__egress__subcmd__help,what-if)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,add)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__add"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,delete-last-service)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,detach-address)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,detach-nat-address)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,detach-nat-gateway)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,disable-snat)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,drop-outbound-rule)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,drop-rules)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,none-route)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__none__subcmd__route"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,private-subnet)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,remove)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__remove"
                ;;
            holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if,terraform)
                cmd="holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__terraform"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,add)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__add"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,delete-last-service)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,detach-address)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,detach-nat-address)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,detach-nat-gateway)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,disable-snat)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,drop-outbound-rule)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,drop-rules)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,help)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,none-route)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__none__subcmd__route"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,private-subnet)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,remove)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__remove"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if,terraform)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__terraform"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,add)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__add"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,delete-last-service)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__delete__subcmd__last__subcmd__service"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,detach-address)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,detach-nat-address)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__nat__subcmd__address"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,detach-nat-gateway)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__nat__subcmd__gateway"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,disable-snat)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__disable__subcmd__snat"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,drop-outbound-rule)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__drop__subcmd__outbound__subcmd__rule"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,drop-rules)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__drop__subcmd__rules"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,help)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__help"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,none-route)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__none__subcmd__route"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,private-subnet)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__private__subcmd__subnet"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,remove)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__remove"
                ;;
            holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help,terraform)
                cmd="holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__terraform"
                ;;
            holdfast__subcmd__help,adopt)
                cmd="holdfast__subcmd__help__subcmd__adopt"
                ;;
            holdfast__subcmd__help,agent)
                cmd="holdfast__subcmd__help__subcmd__agent"
                ;;
            holdfast__subcmd__help,check)
                cmd="holdfast__subcmd__help__subcmd__check"
                ;;
            holdfast__subcmd__help,demo)
                cmd="holdfast__subcmd__help__subcmd__demo"
                ;;
            holdfast__subcmd__help,egress)
                cmd="holdfast__subcmd__help__subcmd__egress"
                ;;
            holdfast__subcmd__help,help)
                cmd="holdfast__subcmd__help__subcmd__help"
                ;;
            holdfast__subcmd__help,lab)
                cmd="holdfast__subcmd__help__subcmd__lab"
                ;;
            holdfast__subcmd__help,node-check)
                cmd="holdfast__subcmd__help__subcmd__node__subcmd__check"
                ;;
            holdfast__subcmd__help,plan)
                cmd="holdfast__subcmd__help__subcmd__plan"
                ;;
            holdfast__subcmd__help,release)
                cmd="holdfast__subcmd__help__subcmd__release"
                ;;
            holdfast__subcmd__help,status)
                cmd="holdfast__subcmd__help__subcmd__status"
                ;;
            holdfast__subcmd__help,watch)
                cmd="holdfast__subcmd__help__subcmd__watch"
                ;;
            holdfast__subcmd__help__subcmd__egress,audit)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__audit"
                ;;
            holdfast__subcmd__help__subcmd__egress,collect)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__collect"
                ;;
            holdfast__subcmd__help__subcmd__egress,explain)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__explain"
                ;;
            holdfast__subcmd__help__subcmd__egress,what-if)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,add)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__add"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,delete-last-service)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,detach-address)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__address"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,detach-nat-address)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,detach-nat-gateway)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,disable-snat)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,drop-outbound-rule)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,drop-rules)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,none-route)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__none__subcmd__route"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,private-subnet)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,remove)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__remove"
                ;;
            holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if,terraform)
                cmd="holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__terraform"
                ;;
            holdfast__subcmd__help__subcmd__lab,azure)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__azure"
                ;;
            holdfast__subcmd__help__subcmd__lab,bench)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__bench"
                ;;
            holdfast__subcmd__help__subcmd__lab,goals)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__goals"
                ;;
            holdfast__subcmd__help__subcmd__lab,list)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__list"
                ;;
            holdfast__subcmd__help__subcmd__lab,matrix)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__matrix"
                ;;
            holdfast__subcmd__help__subcmd__lab,run)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__run"
                ;;
            holdfast__subcmd__help__subcmd__lab,show)
                cmd="holdfast__subcmd__help__subcmd__lab__subcmd__show"
                ;;
            holdfast__subcmd__help__subcmd__plan,egress)
                cmd="holdfast__subcmd__help__subcmd__plan__subcmd__egress"
                ;;
            holdfast__subcmd__lab,azure)
                cmd="holdfast__subcmd__lab__subcmd__azure"
                ;;
            holdfast__subcmd__lab,bench)
                cmd="holdfast__subcmd__lab__subcmd__bench"
                ;;
            holdfast__subcmd__lab,goals)
                cmd="holdfast__subcmd__lab__subcmd__goals"
                ;;
            holdfast__subcmd__lab,help)
                cmd="holdfast__subcmd__lab__subcmd__help"
                ;;
            holdfast__subcmd__lab,list)
                cmd="holdfast__subcmd__lab__subcmd__list"
                ;;
            holdfast__subcmd__lab,matrix)
                cmd="holdfast__subcmd__lab__subcmd__matrix"
                ;;
            holdfast__subcmd__lab,run)
                cmd="holdfast__subcmd__lab__subcmd__run"
                ;;
            holdfast__subcmd__lab,show)
                cmd="holdfast__subcmd__lab__subcmd__show"
                ;;
            holdfast__subcmd__lab__subcmd__help,azure)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__azure"
                ;;
            holdfast__subcmd__lab__subcmd__help,bench)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__bench"
                ;;
            holdfast__subcmd__lab__subcmd__help,goals)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__goals"
                ;;
            holdfast__subcmd__lab__subcmd__help,help)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__help"
                ;;
            holdfast__subcmd__lab__subcmd__help,list)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__list"
                ;;
            holdfast__subcmd__lab__subcmd__help,matrix)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__matrix"
                ;;
            holdfast__subcmd__lab__subcmd__help,run)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__run"
                ;;
            holdfast__subcmd__lab__subcmd__help,show)
                cmd="holdfast__subcmd__lab__subcmd__help__subcmd__show"
                ;;
            holdfast__subcmd__plan,egress)
                cmd="holdfast__subcmd__plan__subcmd__egress"
                ;;
            holdfast__subcmd__plan,help)
                cmd="holdfast__subcmd__plan__subcmd__help"
                ;;
            holdfast__subcmd__plan__subcmd__help,egress)
                cmd="holdfast__subcmd__plan__subcmd__help__subcmd__egress"
                ;;
            holdfast__subcmd__plan__subcmd__help,help)
                cmd="holdfast__subcmd__plan__subcmd__help__subcmd__help"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        holdfast)
            opts="-h -V --help --version adopt agent check demo egress lab node-check plan release status watch help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__adopt)
            opts="-o -h -V --kubeconfig --listener --admin --dry-run --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listener)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__agent)
            opts="-h -V --config --endpoint --ca --server-name --node-name --listen --admin --seed --kubeconfig --cache --dns-server --probe-interval --drain-timeout --shutdown-timeout --guard --guard-unit --guard-user --guard-everyone --guard-dry-run --guard-fallback --log-format --log-level --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dns-server)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --probe-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drain-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shutdown-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-unit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-fallback)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__check)
            opts="-o -h -V --config --endpoint --ca --server-name --node-name --listen --admin --seed --kubeconfig --cache --dns-server --probe-interval --drain-timeout --shutdown-timeout --guard --guard-unit --guard-user --guard-everyone --guard-dry-run --guard-fallback --log-format --log-level --client-kubeconfig --node-monitor-grace-period --node-lease-duration --node-status-update-frequency --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --server-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dns-server)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --probe-interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --drain-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shutdown-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-unit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --guard-fallback)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-monitor-grace-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-lease-duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-status-update-frequency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__demo)
            opts="-h -V --out --time-scale --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time-scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress)
            opts="-h -V --help --version audit collect explain what-if help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__audit)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json junit sarif" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json junit sarif" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__collect)
            opts="-o -h -V --to --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__explain)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help)
            opts="audit collect explain what-if help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__audit)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__collect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if)
            opts="remove add drop-rules drop-outbound-rule disable-snat detach-nat-gateway detach-nat-address detach-address private-subnet none-route delete-last-service terraform"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__add)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__none__subcmd__route)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__remove)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__help__subcmd__what__subcmd__if__subcmd__terraform)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version remove add drop-rules drop-outbound-rule disable-snat detach-nat-gateway detach-nat-address detach-address private-subnet none-route delete-last-service terraform help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__add)
            opts="-o -h -V --pool --rules --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --pool)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rules)
                    COMPREPLY=($(compgen -W "outbound snat-tcp snat-udp nosnat" -- "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__address)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help)
            opts="remove add drop-rules drop-outbound-rule disable-snat detach-nat-gateway detach-nat-address detach-address private-subnet none-route delete-last-service terraform help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__add)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__delete__subcmd__last__subcmd__service)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__nat__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__detach__subcmd__nat__subcmd__gateway)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__disable__subcmd__snat)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__drop__subcmd__outbound__subcmd__rule)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__drop__subcmd__rules)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__none__subcmd__route)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__private__subcmd__subnet)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__remove)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__help__subcmd__terraform)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__none__subcmd__route)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__remove)
            opts="-o -h -V --pool --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --pool)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__egress__subcmd__what__subcmd__if__subcmd__terraform)
            opts="-o -h -V --from --live --subscription --cloud --auth --tenant --client-id --client-certificate --federated-token --arm-endpoint --authority --arm-ca --cluster-name --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cloud)
                    COMPREPLY=($(compgen -W "public usgov china" -- "${cur}"))
                    return 0
                    ;;
                --auth)
                    COMPREPLY=($(compgen -W "auto managed-identity workload-identity service-principal cli" -- "${cur}"))
                    return 0
                    ;;
                --tenant)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-certificate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --federated-token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-endpoint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --authority)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arm-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help)
            opts="adopt agent check demo egress lab node-check plan release status watch help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__adopt)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__agent)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__demo)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress)
            opts="audit collect explain what-if"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__audit)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__collect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if)
            opts="remove add drop-rules drop-outbound-rule disable-snat detach-nat-gateway detach-nat-address detach-address private-subnet none-route delete-last-service terraform"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__add)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__delete__subcmd__last__subcmd__service)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__address)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__detach__subcmd__nat__subcmd__gateway)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__disable__subcmd__snat)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__outbound__subcmd__rule)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__drop__subcmd__rules)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__none__subcmd__route)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__private__subcmd__subnet)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__remove)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__egress__subcmd__what__subcmd__if__subcmd__terraform)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab)
            opts="run matrix goals bench azure list show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__azure)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__bench)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__goals)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__matrix)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__lab__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__node__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__plan)
            opts="egress"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__plan__subcmd__egress)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__release)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__help__subcmd__watch)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab)
            opts="-h -V --help --version run matrix goals bench azure list show help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__azure)
            opts="-h -V --listen --from --dump --subscription --latency --page-size --limits --token --client-secret --metadata --certificates --network --until-input-ends --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dump)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subscription)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --page-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-secret)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metadata)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --certificates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__bench)
            opts="-o -h -V --rounds --seconds --subjects --output --json --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --rounds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seconds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subjects)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__goals)
            opts="-o -h -V --faults --loops --jobs --output --json --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --faults)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help)
            opts="run matrix goals bench azure list show help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__azure)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__bench)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__goals)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__matrix)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__list)
            opts="-o -h -V --real --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__matrix)
            opts="-o -h -V --faults --subjects --loops --jobs --output --json --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --faults)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subjects)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__run)
            opts="-o -h -V --subjects --time-scale --real --components --grace-period --output --html --json --jobs --live --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --subjects)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time-scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --components)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --html)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__lab__subcmd__show)
            opts="-h -V --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__node__subcmd__check)
            opts="-o -h -V --kubeconfig --node-name --unit --api-port --interval --failures --settle --no-restart --hold-down --restarts --spread --share --lease-namespace --state-file --once --output --log-format --log-level --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --api-port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --failures)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --settle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hold-down)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --restarts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --share)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lease-namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__plan)
            opts="-h -V --help --version egress help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__plan__subcmd__egress)
            opts="-i -h -V --input --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --input)
                    COMPREPLY=($(compgen -W "csv json" -- "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -W "csv json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__plan__subcmd__help)
            opts="egress help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__plan__subcmd__help__subcmd__egress)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__plan__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__release)
            opts="-o -h -V --kubeconfig --dry-run --force --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__status)
            opts="-o -h -V --admin --actions --output --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --admin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --actions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        holdfast__subcmd__watch)
            opts="-o -h -V --name --state-file --unit --strategy --fallback --interval --grace-period --start-time --hold-down --restarts --dns-server --lifetimes --show --output --log-format --log-level --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --state-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --strategy)
                    COMPREPLY=($(compgen -W "sever systemctl watchdog" -- "${cur}"))
                    return 0
                    ;;
                --fallback)
                    COMPREPLY=($(compgen -W "none systemctl watchdog" -- "${cur}"))
                    return 0
                    ;;
                --interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace-period)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --start-time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hold-down)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --restarts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dns-server)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lifetimes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-level)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _holdfast -o nosort -o bashdefault -o default holdfast
else
    complete -F _holdfast -o bashdefault -o default holdfast
fi
