-- +goose Up
INSERT INTO contexts (book, signature, id, payload, gone) SELECT book, signature, id, payload, 0 FROM payloads;
