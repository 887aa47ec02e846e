-- A token that ended is known, so that it is told from a token of another server. The row outlives its store and application.
CREATE TABLE "EndedToken" (
  "tokenHash" TEXT NOT NULL,
  "storeId" INTEGER NOT NULL,
  "applicationId" INTEGER NOT NULL,

  CONSTRAINT "EndedToken_pkey" PRIMARY KEY ("tokenHash")
);

CREATE FUNCTION "endTokens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "EndedToken" ("tokenHash", "storeId", "applicationId")
    SELECT "tokenHash", OLD."storeId", OLD."applicationId" FROM "AccessToken" WHERE "subscriptionId" = OLD."id"
    UNION ALL SELECT OLD."tokenHash", OLD."storeId", OLD."applicationId"
    ON CONFLICT DO NOTHING;
  RETURN OLD;
END $$;

-- When the subscription ends, its row is gone before those of its access tokens.
CREATE FUNCTION "endAccessToken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "EndedToken" ("tokenHash", "storeId", "applicationId")
    SELECT OLD."tokenHash", "storeId", "applicationId" FROM "Subscription" WHERE "id" = OLD."subscriptionId"
    ON CONFLICT DO NOTHING;
  RETURN OLD;
END $$;

CREATE TRIGGER "Subscription_ended" BEFORE DELETE ON "Subscription" FOR EACH ROW EXECUTE FUNCTION "endTokens"();
CREATE TRIGGER "AccessToken_ended" BEFORE DELETE ON "AccessToken" FOR EACH ROW EXECUTE FUNCTION "endAccessToken"();
