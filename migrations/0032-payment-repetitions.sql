-- Why: bounds how often a payment whose response is too large to be stored repeats its call.
alter table payments add column repetitions int4 not null default 0;
