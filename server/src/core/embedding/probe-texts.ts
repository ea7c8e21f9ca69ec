/**
 * The texts of every probe of an embedding model. They never change: the stored references were made from these very texts,
 * so a changed letter would look like a changed space, for every model at once. Short and long texts, other scripts, signs,
 * figures and code differ most between two tokenizers, poolings or quantisations. Each has fewer tokens than the shortest
 * limit of any known model, 128.
 */
export const PROBE_TEXTS: readonly string[] = [
  'gateway',
  'The harbour lay quiet before dawn.',
  'A lighthouse keeper wrote down the weather every evening: the wind and where it came from, the height of the swell, the ships that passed and those that did not. After forty years nobody could remember why the notes were taken, but the notes had become the memory of the coast, and people came from far away to read what the sea had been like on the day when they were born.',
  '図書館の窓から見える桜は、毎年少しずつ早く咲くようになった。',
  'تغلق السوق أبوابها عند الغروب، ثم تفتحها من جديد مع أول ضوء.',
  'Invoice 2024-0117: 3 × 49.90 € + 19 % VAT = 178.14 €, due 31.01.2025 (IBAN ending 4471).',
  'function median(values) { const sorted = [...values].sort((a, b) => a - b); return sorted[sorted.length >> 1] }',
  'Ça marche ¿verdad? ✅ — naïve café, Straße, Łódź, смысл, 🙂🚀',
]

/** The text of the shortest probe: eight tokens. */
export const SHORT_INDEX = 1
export const SHORT_TEXT: string = PROBE_TEXTS[SHORT_INDEX] as string
