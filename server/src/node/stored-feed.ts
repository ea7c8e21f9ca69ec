/** The catalogue of a database that is not open yet. */
import { chosenSequence } from '#core/feed/choice.ts'
import type { DatabaseSettings } from '#core/settings.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresCatalogFeeds } from '#stores/postgres/directory/catalog-feeds.ts'
import type { Log } from '#telemetry/log.ts'
import type { UsedFeed } from '#worker/catalog/feed.ts'
import { builtInFeed } from './feed.ts'

/** Timeout of the questions: the start would fail without their answers. */
const QUESTION_MS = 5000

/** Undefined: none is stored, or the database can't be asked. The database inside this process has its copy in the data folder. */
export async function feedInDatabase(settings: DatabaseSettings, log: Log): Promise<UsedFeed | undefined> {
  if (settings.kind === 'inside') return undefined
  const database = openPostgres(settings.url, { queryTimeoutMs: QUESTION_MS, poolSize: 1 })
  try {
    const feeds = new PostgresCatalogFeeds(database)
    const sequence = chosenSequence(await feeds.state(), builtInFeed().sequence)
    const document = sequence === undefined ? undefined : await feeds.document(sequence)
    return sequence === undefined || document === undefined ? undefined : { sequence, document }
  } catch (error) {
    // Its tables may not be there yet.
    log.warn(
      { err: error },
      'the configuration does not fit the built-in catalogue, and no other could be read',
    )
    return undefined
  } finally {
    await database.close()
  }
}
