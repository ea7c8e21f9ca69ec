/** What every format has to be read by: its facts, and the ways to find them. */
import type { Media } from '../content/content.ts'
import type { Scan } from '../image/scan.ts'

/** What a format tells beside its name. Undefined: unknown. */
export type MediaFacts = Pick<Media, 'width' | 'height' | 'seconds' | 'pages'>

/** Reads one format. A text is the reason why the file is refused. */
export interface MediaReader {
  push(bytes: Uint8Array): string | undefined
  /** `size`: bytes of the whole file. */
  end(size: number): MediaFacts | string
}

/** What a scan of a header knows: some formats give their length only together with the size of the file. */
export type LengthScan = Scan<string | ((size: number) => MediaFacts)>
