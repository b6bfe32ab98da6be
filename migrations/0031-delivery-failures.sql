-- Why: customers read why an attempt got no response. Attempts of earlier versions have no reason.
alter table webhook_deliveries add column failure text;
