-- Which countings have the counts of the past.
SELECT DISTINCT toString(counting) FROM activity WHERE book = 'begun' AND has({countings:Array(String)}, toString(counting))
