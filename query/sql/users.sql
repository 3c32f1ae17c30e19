{{- /* The ids are not known yet when this is asked: a signature has one record that is
there, and the rows of others are deleted in the background. */ -}}
SELECT id, uniqExact(user_hash) AS users
FROM occurrences
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
WHERE user_hash != 0
GROUP BY id
