#!/bin/sh
# The demonstration: index the documents of a small company, and ask six questions.
# Run it with `make demo`, from the root of the project. DEMO_KB names the folder of the knowledge base, PROGRAM ragstone.
set -eu

kb=${DEMO_KB:-.ragstone-demo}
ragstone=${PROGRAM:-ragstone}
bold=''
plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m')
    plain=$(printf '\033[0m')
fi

ask() {
    printf '\n%s# %s\n$ ragstone ask "%s" --kb %s%s\n\n' "$bold" "$1" "$2" "$kb" "$plain"
    "$ragstone" ask "$2" --kb "$kb"
}

cat <<END
Alderwren Cycles, a maker of cargo bikes, does not exist, but examples/alderwren has 19 of its files: reports, a
handbook, minutes, policies, a manual, a price list, e-mails, a web page in German and a scanned letter.

END
printf '%s$ ragstone add examples/alderwren --kb %s%s\n\n' "$bold" "$kb" "$plain"
"$ragstone" add examples/alderwren --kb "$kb"

ask "A fact" "Which second battery supplier did we choose, and why?"
ask "A cell of a table in a PDF" "How much cash did the company have on 31 March 2026?"
ask "The steps of a task" "How do I take out the battery of an Otter?"
ask "Two versions of a policy" "How much may a hotel cost per night?"
ask "A question in German" "Was kostet eine Inspektion für den Otter?"
ask "Not in the documents" "What dividend did Alderwren pay in 2025?"

cat <<END

Open these documents in the browser, with the source next to each answer:

    make serve

Or ask about your own documents:

    make ask DOCS=path/to/your/documents Q="your question"
END
