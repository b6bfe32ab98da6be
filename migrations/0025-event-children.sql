-- Why: an event says how many of its markets were read. Rows stored before do not know it until the next sweep.
update events set listing = (listing::jsonb || '{"children": null}')::text where not (listing::jsonb ? 'children');
