/** The format of a corpus, from its name and its first bytes. */

export type CorpusFormat =
  | { readonly kind: 'csv'; readonly separator: string; readonly hasHeader: boolean }
  | { readonly kind: 'jsonl' }

/** Separators that are looked for, the usual ones first. */
export const SEPARATORS = [',', ';', '\t', '|'] as const

/** `start`: the first characters of the file. A name without a known ending is no help: then they decide. */
export function formatOf(name: string, start: string, hasHeader: boolean): CorpusFormat {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  if (ending === 'jsonl' || ending === 'ndjson') return { kind: 'jsonl' }
  if (ending !== 'csv' && ending !== 'tsv' && /^\s*\{/.test(start)) return { kind: 'jsonl' }
  const separator = ending === 'tsv' ? '\t' : separatorIn(start)
  return { kind: 'csv', separator, hasHeader }
}

/** The separator that the first record has most of, outside of quotes. */
function separatorIn(start: string): string {
  const [record = ''] = start.replaceAll(/"(?:[^"]|"")*"/g, '').split(/\r?\n/, 1)
  const countOf = (separator: string): number => record.split(separator).length
  const [first, ...others] = SEPARATORS
  return others.reduce<string>((most, one) => (countOf(one) > countOf(most) ? one : most), first)
}
