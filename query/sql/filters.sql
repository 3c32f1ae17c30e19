{{- /*
One fragment for each filter. AND joins them after book > 'checkpoint'. (Not !=:
ClickHouse compares that with every mark of the primary key, which takes 22 ms for
10 M records while it plans each query. For > it uses a binary search.)

The lower case of a text is compared with a pattern twice. The longest literal part
of the pattern comes first, because ClickHouse finds it with a plain text search
(42 ms over 1 M messages). Then the whole pattern; alone, it would be a regular
expression for every row (250 ms). Without a * the part is the whole pattern, and
the dot is 0. lowerUTF8 on both sides costs less than ILIKE or
positionCaseInsensitiveUTF8 (70 to 190 ms).

The column texts holds all four texts of a row, the column words of a context what
the row does not have. indexHint asks its n-gram index which
granules may have the literal part, and reads nothing of the column. Over 1 M
records, a text that one record in 400 has takes 82 ms of processor time instead of
178, a rare one 9. Parts and granules without the index are read whole. A literal of
less than three characters cannot use the index.
*/ -}}

{{define "books"}}book IN {books:Array(String)}{{end}}

{{- /* The same filter for reads that must not use the primary key. A function that
keeps the order, such as toString alone, would be compared with every mark of the
key: 70 ms at 10 M records. */ -}}
{{define "books_unindexed"}}indexOf({books:Array(String)}, toString(book)) > 0{{end}}

{{define "projects"}}project IN {projects:Array(UInt64)}{{end}}

{{define "environment"}}environment IN {environment:Array(String)}{{end}}

{{- /* With wildcards: all names as one regular expression, which a column of few
values compares once for each value. */ -}}
{{define "environment_like"}}match(environment, {environment:String}){{end}}

{{define "release"}}release IN {release:Array(String)}{{end}}

{{define "release_like"}}match(release, {release:String}){{end}}

{{- /* A tag of a single occurrence. */ -}}
{{define "tag"}}has(tags, {tag_{{.}}:String}){{end}}

{{- /* The same bounds for sums of rows of deployments, or of single occurrences. */ -}}
{{define "sum_min_occurrence"}}{{if .}}count(){{else}}sum(count){{end}} >= {min_occurrence:UInt64}{{end}}

{{define "sum_from"}}max({{template "sum_time" .}}) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'){{end}}

{{define "sum_to"}}max({{template "sum_time" .}}) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC'){{end}}

{{define "sum_time"}}{{if .}}time{{else}}last_seen{{end}}{{end}}

{{- /* Of the occurrences of one record. */ -}}
{{define "up_to"}}position <= {up_to:UInt64}{{end}}

{{define "after"}}position > {after:UInt64}{{end}}

{{define "user"}}user = {user:String}{{end}}

{{define "user_hash"}}user_hash = {user_hash:UInt64}{{end}}

{{define "time_from"}}time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'){{end}}

{{define "time_to"}}time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC'){{end}}

{{- /* The id of an occurrence: that of a client as a UUID, or as any other text. */ -}}
{{define "event"}}event_id = toFixedString(unhex({event_id:String}), 16){{end}}

{{define "event_text"}}client_id = {event_id:String}{{end}}

{{define "of_event"}}(signature, id) IN (SELECT signature, id FROM occurrences WHERE book > 'checkpoint' AND {{template "event"}}){{end}}

{{define "of_event_text"}}(signature, id) IN (SELECT signature, id FROM occurrences WHERE book > 'checkpoint' AND {{template "event_text"}}){{end}}

{{define "levels"}}level IN {levels:Array(String)}{{end}}

{{define "statuses"}}status IN {statuses:Array(String)}{{end}}

{{define "signature"}}signature = toFixedString(unhex({signature:String}), 16){{end}}

{{define "method"}}upper(request_method) = upper({method:String}){{end}}

{{define "user_id"}}user_id = {user_id:Int64}{{end}}

{{define "ip"}}ip = {ip:IPv6}{{end}}

{{define "ip_prefix"}}ip BETWEEN {ip_first:IPv6} AND {ip_last:IPv6}{{end}}

{{- /* An IPv6 prefix may span the values that stand for IPv4 addresses and for "unknown". */ -}}
{{define "ip_prefix_v6"}}ip BETWEEN {ip_first:IPv6} AND {ip_last:IPv6}
        AND NOT ip BETWEEN toIPv6('::ffff:0.0.0.0') AND toIPv6('::ffff:255.255.255.255') AND ip != toIPv6('::'){{end}}

{{define "min_occurrence"}}count >= {min_occurrence:UInt64}{{end}}

{{define "from"}}last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC'){{end}}

{{define "to"}}last_seen <= fromUnixTimestamp64Milli({to:Int64}, 'UTC'){{end}}

{{- /* The preview, or the whole message, which is the first line of words. */ -}}
{{define "message"}}(indexHint(texts LIKE lowerUTF8({message_part:String}))
        AND lowerUTF8(message_preview) LIKE lowerUTF8({message_part:String}){{if .}}
        AND lowerUTF8(message_preview) LIKE lowerUTF8({message_like:String}){{end}}
        OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({message_part:String}) AND substringIndex(words, '\n', 1) LIKE lowerUTF8({message_part:String}){{if .}}
                AND substringIndex(words, '\n', 1) LIKE lowerUTF8({message_like:String}){{end}}
                AND {{template "not_erased"}}
        ))
    {{- end}}

{{define "file"}}indexHint(texts LIKE lowerUTF8({file_part:String}))
        AND lowerUTF8(file) LIKE lowerUTF8({file_part:String}){{if .}}
        AND lowerUTF8(file) LIKE lowerUTF8({file_like:String}){{end}}{{end}}

{{define "class"}}lowerUTF8(exception_class) LIKE lowerUTF8({class_part:String}){{if .}}
        AND lowerUTF8(exception_class) LIKE lowerUTF8({class_like:String}){{end}}{{end}}

{{- /* For reads of the table itself: with the hint, ClickHouse could not read from
the ClickHouse projection by_time. */ -}}
{{define "class_hinted"}}indexHint(texts LIKE lowerUTF8({class_part:String}))
        AND {{template "class" .}}{{end}}

{{define "uri"}}indexHint(texts LIKE lowerUTF8({uri_part:String}))
        AND lowerUTF8(request_uri) LIKE lowerUTF8({uri_part:String}){{if .}}
        AND lowerUTF8(request_uri) LIKE lowerUTF8({uri_like:String}){{end}}{{end}}

{{- /* A word of a search; the dot is its number. Each side of an OR has an index, so
that together they say which granules to read: ix_texts, and for the records that the
contexts name ix_signature. */ -}}
{{define "word"}}(texts LIKE lowerUTF8({word_{{.}}:String}) OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({word_{{.}}:String}) AND {{template "not_erased"}}
        ))
    {{- end}}

{{- /* The word may also be the beginning of a signature. */ -}}
{{define "word_hex"}}({{template "signature_range" .}} OR {{template "word" .}}){{end}}

{{- /* The word may also be the id of an event: of the first, or of any that is kept. */ -}}
{{define "word_id"}}(texts LIKE lowerUTF8({word_{{.}}:String}) OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE (words LIKE lowerUTF8({word_{{.}}:String}) OR event_id = unhex({word_id_{{.}}:String})) AND {{template "not_erased"}}
        )
        OR (signature, id) IN (SELECT signature, id FROM occurrences WHERE book > 'checkpoint' AND event_id = toFixedString(unhex({word_id_{{.}}:String}), 16)))
    {{- end}}

{{define "word_id_hex"}}({{template "signature_range" .}} OR {{template "word_id" .}}){{end}}

{{- /* An erased context stays in the table until a merge, but is found no more. (The
context of a record that was deleted may be found: no record has its id.) */ -}}
{{define "not_erased"}}(signature, id) NOT IN (SELECT signature, id FROM contexts WHERE gone = 2){{end}}

{{define "signature_range"}}signature BETWEEN toFixedString(unhex({word_first_{{.}}:String}), 16) AND toFixedString(unhex({word_last_{{.}}:String}), 16){{end}}

{{define "hide_noise"}}status != 'muted' AND level NOT IN ('debug', 'info', 'notice') AND NOT noise{{end}}

{{- /* Occurrences that count, of records that are there: an id belongs to one record. The
rows of a record that is removed stay, and one row of deployments says that it is gone;
the index of that column finds those few. A record matches when one more of its
rows match than are cancelled. */ -}}
{{define "occurrences"}}{{template "rows" .}}
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
{{- if .Records}}
    AND id {{if .Unmatched}}NOT {{end}}IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
{{- range .Records}}
            AND {{.}}
{{- end}}
        GROUP BY id
        HAVING sum(sign) > 0
    )
{{- end}}{{end}}

{{define "rows"}}FROM {{.From.Table}}
WHERE book > 'checkpoint'
{{- range .Filters}}
    AND {{.}}
{{- end}}{{end}}

{{define "sums"}}
{{- range $i, $sum := .Sums}}
{{if $i}}    AND{{else}}HAVING{{end}} {{$sum}}
{{- end}}{{end}}
