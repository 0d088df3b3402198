-- The language of the mails to an account, as its browser asked for it when it signed up; null: not known, then English. It goes with the account.
alter table users add column language text;
