-- Addresses could be stored with control characters, such as a tab that was copied along. Whoever calls an address drops them.
UPDATE "Webhook" SET "url" = regexp_replace("url", '[\u0001-\u001f\u007f-\u009f]', '', 'g')
WHERE "url" ~ '[\u0001-\u001f\u007f-\u009f]';
UPDATE "Application" SET "callbackUrl" = regexp_replace("callbackUrl", '[\u0001-\u001f\u007f-\u009f]', '', 'g')
WHERE "callbackUrl" ~ '[\u0001-\u001f\u007f-\u009f]';
UPDATE "Subscription" SET "postBackUrl" = regexp_replace("postBackUrl", '[\u0001-\u001f\u007f-\u009f]', '', 'g')
WHERE "postBackUrl" ~ '[\u0001-\u001f\u007f-\u009f]';
UPDATE "RemovalNotice" SET "url" = regexp_replace("url", '[\u0001-\u001f\u007f-\u009f]', '', 'g')
WHERE "url" ~ '[\u0001-\u001f\u007f-\u009f]';
