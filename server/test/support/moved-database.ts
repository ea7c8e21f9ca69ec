/** A database whose clock a test moves. */
import { openPostgres } from '#stores/postgres/database.ts'

/** For connections that are opened later. Defaults of tables that are there already keep the clock of the server. */
export async function movableClock(url: string): Promise<(byMs: number) => Promise<void>> {
  const one = async (statement: string): Promise<void> => {
    const database = openPostgres(url, { poolSize: 1 })
    await database.query(statement)
    await database.close()
  }
  await one(`
    CREATE SCHEMA moved;
    CREATE TABLE moved.clock (ahead interval NOT NULL);
    INSERT INTO moved.clock VALUES ('0');
    CREATE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS
      'SELECT pg_catalog.now() + ahead FROM moved.clock';
    CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + ahead FROM moved.clock';
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path TO public, moved, pg_catalog', current_database());
    END $$`)
  return (byMs) => one(`UPDATE moved.clock SET ahead = interval '${Math.round(byMs)} milliseconds'`)
}
