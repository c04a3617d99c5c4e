# Compares what bin/slug makes of a title with what it should.
expect() {
    got=$(sh bin/slug "$1")
    if [ "$got" = "$2" ]; then
        echo "ok: '$1' gives '$got'"
    else
        echo "FAIL: '$1' should give '$2' but gives '$got'"
        exit 1
    fi
}
