{{- /* The ids are not known yet when this is asked: a signature has one record that is
there, and the rows of others are deleted in the background. */ -}}
SELECT any(signature), id, uniqExactIf(user_hash, user_hash != 0 AND user_hash % {shares:UInt64} = {share:UInt64}) AS users, count() AS occurrences
FROM occurrences
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
GROUP BY id
