-- How many rows there are, also rows that the next merge removes. The parts know it: nothing is read.
SELECT count()
FROM records
