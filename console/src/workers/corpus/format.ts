/** The format of a corpus, from its name and its first bytes. */

export type CorpusFormat =
  | { readonly kind: 'csv'; readonly separator: Separator }
  | { readonly kind: 'jsonl' | 'parquet' }

/** Separators that are looked for, the usual ones first. */
const SEPARATORS = [',', ';', '\t', '|'] as const
type Separator = (typeof SEPARATORS)[number]

/** `start`: the first characters of the file. A name without a known ending is no help: then they decide. */
export function formatOf(name: string, start: string): CorpusFormat {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  if (ending === 'jsonl' || ending === 'ndjson') return { kind: 'jsonl' }
  if (ending === 'parquet') return { kind: 'parquet' }
  if (ending !== 'csv' && ending !== 'tsv') {
    if (start.startsWith('PAR1')) return { kind: 'parquet' }
    if (/^\s*\{/.test(start)) return { kind: 'jsonl' }
  }
  const separator = ending === 'tsv' ? '\t' : separatorIn(start)
  return { kind: 'csv', separator }
}

/** The separator that the first record has most of, outside of quotes. */
function separatorIn(start: string): Separator {
  const [record = ''] = start.replaceAll(/"(?:[^"]|"")*"/g, '').split(/\r?\n/, 1)
  const countOf = (separator: string): number => record.split(separator).length
  const [first, ...others] = SEPARATORS
  return others.reduce<Separator>((most, one) => (countOf(one) > countOf(most) ? one : most), first)
}
