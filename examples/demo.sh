#!/bin/sh
# The demonstration: index this project's own documentation and a small knowledge base, and ask four questions.
# Run it with `make demo`, from the root of the project.
set -eu

kb=.ragstone-demo
bold=''
plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m')
    plain=$(printf '\033[0m')
fi

ask() {
    printf '\n%s$ ragstone ask "%s" --kb %s%s\n\n' "$bold" "$1" "$kb" "$plain"
    ragstone ask "$1" --kb "$kb"
}

sources="README.md ARCHITECTURE.md docs/*.md examples/knowledge-base.csv"
printf '%s$ ragstone add %s --kb %s%s\n\n' "$bold" "$sources" "$kb" "$plain"
# shellcheck disable=SC2086  # several sources, one word each
ragstone add $sources --kb "$kb"

ask "Who proposed reciprocal rank fusion, and when?"
ask "Does Ragstone work offline?"
ask "Warum überlappen sich benachbarte Textabschnitte?"
ask "How much is a train ticket to Vilnius?"

cat <<END

The last question has no answer in these documents, and Ragstone says so instead of guessing.
Now ask your own documents:

    make ask DOCS=path/to/your/documents Q="your question"

or work with this knowledge base: . .venv/bin/activate

    ragstone search "fusion" --kb $kb --explain
    ragstone search "Suche" --kb $kb --where "lang = de"
    ragstone chat --kb $kb

or open it in a browser, with the sources next to each answer:

    make serve
END
