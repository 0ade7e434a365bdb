-- The full-text index: the words of each event, by the event's id. It holds no text, only which words are in
-- which event; all of it can be made anew from the events.

CREATE VIRTUAL TABLE words USING fts5(
  body, content='', contentless_delete=1, detail=none,
  tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TABLE words_mark (
  up_to INTEGER NOT NULL                    -- events.id that the index has reached; later ones are looked at
);
INSERT INTO words_mark (up_to) VALUES (0);
CREATE INDEX events_by_time ON events(timestamp);
