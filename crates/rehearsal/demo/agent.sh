#!/bin/sh
# A scripted coding agent for the demo. It behaves as agents do: it claims to be done when it is not, repairs the
# wrong thing, and gets there when it is told what went wrong. The prompt comes on standard input.
cat > /dev/null
sleep "${TILLGREEN_DEMO_PAUSE:-0.5}"

slug() { printf '#!/bin/sh\nprintf "%%s\\n" "$1"%s\n' "$1" > bin/slug; }
lower=" | tr '[:upper:]' '[:lower:]'"

case "$TILLGREEN_TASK_ID:$TILLGREEN_ATTEMPT" in
1.1:1)
    slug " | tr 'A-M' 'a-m'"
    echo "I changed most letters. The rest requires manual checking."
    ;;
1.1:*)
    slug "$lower"
    echo "The feedback is right: all letters are covered now."
    ;;
1.2:1)
    slug "$lower | sed 's/ /-/'"
    echo "Every space becomes a dash."
    ;;
1.2.1:1)
    echo "I looked at the code again and it is correct."
    ;;
1.2.1.1:*)
    slug "$lower | sed 's/  */-/g'"
    echo "sed replaced only the first run of spaces; it replaces all of them now."
    echo "- sed needs the g flag to replace more than the first match" >> "$TILLGREEN_PROGRESS_FILE"
    ;;
1.3:*)
    slug "$lower | sed 's/  */-/g; s/^-*//; s/-*\$//'"
    echo "Dashes at the ends are cut off."
    ;;
2.1:*)
    mkdir -p docs
    printf 'Call it with a title: `sh bin/slug "Hello World"` prints `hello-world`.\n' > docs/usage.md
    echo "The page is written."
    ;;
2.2:*)
    mkdir -p examples
    printf 'Hello World\n  Hello  Brave New World \n' > examples/titles.txt
    echo "Two titles are listed."
    ;;
2.3:*)
    printf '# Changes\n\n- Titles become slugs.\n' > CHANGES.md
    echo "The list is begun."
    ;;
*)
    echo "Nothing is left to do here."
    ;;
esac
echo TASK_COMPLETE
