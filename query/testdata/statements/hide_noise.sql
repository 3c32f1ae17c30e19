-- total
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book > 'checkpoint'
    AND status != 'muted' AND level NOT IN ('debug', 'info', 'notice') AND NOT noise
-- SETTINGS max_threads = 2, optimize_use_projections = 1, preferred_optimize_projection_name = by_group
-- page, in order
SELECT toInt8(book) AS book_number, signature, version
FROM
(
    SELECT book, signature, id, version, sign
    FROM
    (
        SELECT book, signature, id, version, sign
        FROM records
        WHERE book > 'checkpoint'
            AND status != 'muted' AND level NOT IN ('debug', 'info', 'notice') AND NOT noise
        ORDER BY last_seen DESC, id DESC, version DESC, sign ASC
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, read_in_order_use_buffering = 0, use_top_k_dynamic_filtering = 0
-- offset = 0
-- limit = 25
-- window = 250
