SELECT count(), groupBitXor(cityHash64(toInt8(book), signature, id, payload))
FROM contexts FINAL
WHERE gone = 0
