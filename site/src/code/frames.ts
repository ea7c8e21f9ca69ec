/** Code blocks: the colours of the console, and a frame with a title and a button that copies. */
import type { ShikiTransformer, ThemeRegistration } from 'shiki'

const scopes = (
  foreground: string,
  ...scope: string[]
): { scope: string[]; settings: { foreground: string } } => ({
  scope,
  settings: { foreground },
})

/** Keywords and keys, texts, numbers, comments: nothing else has a colour. */
export const theme: ThemeRegistration = {
  name: 'torana',
  type: 'light',
  fg: 'var(--ink)',
  bg: 'transparent',
  settings: [
    { settings: { foreground: 'var(--ink)' } },
    scopes(
      'var(--accent)',
      'keyword',
      'storage.type',
      'storage.modifier',
      'support.type.property-name',
      'entity.name.tag',
      'constant.language',
    ),
    scopes('var(--ink)', 'keyword.operator', 'punctuation'),
    scopes('var(--good)', 'string', 'punctuation.definition.string', 'markup.inline.raw'),
    scopes('var(--accent)', 'support.type.property-name.json', 'support.type.property-name punctuation'),
    scopes('var(--odd)', 'constant.numeric'),
    scopes('var(--ink-3)', 'comment', 'punctuation.definition.comment'),
    // YAML marks plain words as strings: only quoted ones get the colour.
    scopes('var(--ink)', 'string.unquoted'),
  ],
}

const COPY_ICON =
  'M8 8V5.5A1.5 1.5 0 0 1 9.5 4h9A1.5 1.5 0 0 1 20 5.5v9a1.5 1.5 0 0 1-1.5 1.5H16M5.5 8h9A1.5 1.5 0 0 1 16 9.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 4 18.5v-9A1.5 1.5 0 0 1 5.5 8Z'

type Root = Parameters<NonNullable<ShikiTransformer['root']>>[0]
type Child = Root['children'][number]

const element = (tagName: string, properties: Record<string, string>, ...children: Child[]): Child =>
  ({ type: 'element', tagName, properties, children }) as Child
const words = (value: string): Child => ({ type: 'text', value })

/** Its words are no text of the page. */
const UNSEARCHED = { 'data-pagefind-ignore': '' }

/** A block after a command is its output: it joins the frame above, and has nothing to copy. */
export const frames: ShikiTransformer = {
  name: 'frames',
  root(root) {
    const meta = this.options.meta?.['__raw'] ?? ''
    const [, title = ''] = /title="([^"]+)"/.exec(meta) ?? []
    const isOutput = /(?:^| )output\b/.test(meta)
    const bar = isOutput
      ? element('figcaption', UNSEARCHED, element('span', {}, words('Output')))
      : element(
          'figcaption',
          UNSEARCHED,
          element('span', { class: title.includes('.') ? 'file' : '' }, words(title)),
          element(
            'button',
            { type: 'button', class: 'copy', 'aria-label': 'Copy the code' },
            element(
              'svg',
              { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
              element('path', { d: COPY_ICON }),
            ),
            element('span', {}, words('Copy')),
          ),
        )
    root.children = [element('figure', { class: isOutput ? 'code output' : 'code' }, bar, ...root.children)]
  },
}
