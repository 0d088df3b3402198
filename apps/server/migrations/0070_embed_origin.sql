-- The one origin whose pages may show the person's page in a frame; null: none may.
alter table sessions add column embed_origin text;
alter table sessions alter column embed_origin set statistics 0;
