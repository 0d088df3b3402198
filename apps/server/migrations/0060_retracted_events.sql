-- A success that the person took back before anybody had received it. Another event of the same session has taken its place.
alter table events add column retracted_at timestamptz(3);
