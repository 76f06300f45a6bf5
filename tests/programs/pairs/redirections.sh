# Redirects each line to a file; mended: all lines at once.
way=$1
log=$2/run.log
begin=$EPOCHREALTIME
if [ "$way" = mended ]; then
    text=
    for ((line = 0; line < 20000; line++)); do text+="step $line"$'\n'; done
    printf '%s' "$text" >"$log"
else
    for ((line = 0; line < 20000; line++)); do echo "step $line" >>"$log"; done
fi
end=$EPOCHREALTIME
echo "$((${end/./} - ${begin/./}))" | sed 's/^/000000/; s/\(......\)$/.\1/'
