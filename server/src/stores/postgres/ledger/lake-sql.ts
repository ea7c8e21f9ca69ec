/** The statements of the export of the ledger. */

/** Null in a column of numbers, of which none is that small. */
const NULL_NUMBER = '(-9223372036854775808)'

const long = (column: string): string =>
  `encode(string_agg(int8send(coalesce(${column}, ${NULL_NUMBER})), ''), 'base64')`
const id = (column: string): string => `encode(string_agg(uuid_send(${column}), ''), 'base64')`
const texts = (column: string): string => `json_agg(${column})::text`
/** Few rows have a value: each with the place of its row. */
const sparse = (column: string): string =>
  `(json_agg(json_build_array(place, ${column}::text)) FILTER (WHERE ${column} IS NOT NULL))::text`

/**
 * A page of entries, a column per text: rows one by one would cost five times as much. Numbers and ids are big-endian bytes in
 * base64, texts are JSON. $1, $2: ids from and to; $3: written before, or from then on; $4 to $6: the last entry of the page before;
 * $7: page size.
 */
export function entryPage(written: 'before' | 'since'): string {
  return `
SELECT count(*)::integer AS rows, ${id('request_id')} AS request_ids, ${texts('kind')} AS kinds, ${id('call_id')} AS call_ids,
  ${id('node_id')} AS node_ids, ${texts('project')} AS projects, ${texts('key_id')} AS key_ids, ${texts('model')} AS models,
  ${texts('deployment')} AS deployments, ${texts('usage')} AS usages, ${long('attempt')} AS attempts, ${long('tokens')} AS tokens,
  ${long('images')} AS images, ${long('amount_nano')} AS amounts, ${long('requests')} AS requests, ${long('inputs')} AS inputs,
  encode(string_agg(timestamptz_send(written_at), ''), 'base64') AS written_at,
  ${sparse('hits')} AS hits, ${sparse('saved_nano')} AS saved, ${sparse('unknown_nano')} AS unknown_amounts,
  ${sparse('batch_id')} AS batch_ids, ${sparse('end_user')} AS end_users, ${sparse('tags')} AS tags, ${sparse('remarks')} AS remarks
FROM (
  SELECT (row_number() OVER () - 1)::integer AS place, page.* FROM (
    SELECT * FROM usage_events
    WHERE request_id >= $1::uuid AND request_id < $2::uuid AND written_at ${written === 'before' ? '<' : '>='} $3::timestamptz
      AND (request_id, attempt, kind) > ($4::uuid, $5::smallint, $6::text)
    ORDER BY request_id, attempt, kind LIMIT $7
  ) AS page
) AS placed`
}
