/** The image that other sites show for a link: mark, title and one line, 1200 × 630, drawn by Chromium with the site's fonts. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { browserPath } from './diagrams.ts'

export interface Card {
  readonly title: string
  readonly line: string
}
/** Part of the names of files: a change of the style draws all of them again. */
const STYLE = 1

export function cardName({ title, line }: Card): string {
  return `${createHash('sha256').update(`${STYLE}\n${title}\n${line}`).digest('hex').slice(0, 12)}.png`
}

/** Draws the cards that are missing in `cache`. `console` is the folder with the fonts and the mark. */
export async function drawCards(cards: readonly Card[], cache: string, console: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const missing = cards.filter((card) => !existsSync(join(cache, cardName(card))))
  if (missing.length === 0) return
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
    // Of a file, so that it may read the fonts, which are files too.
    const file = join(cache, 'card.html')
    writeFileSync(file, template(console))
    await page.goto(pathToFileURL(file).href)
    await page.evaluate('document.fonts.ready')
    for (const card of missing) {
      await page.evaluate(
        `document.querySelector('h1').textContent = ${JSON.stringify(card.title)}; document.querySelector('p').textContent = ${JSON.stringify(card.line)}`,
      )
      writeFileSync(join(cache, cardName(card)), await page.screenshot())
    }
  } finally {
    await browser.close()
  }
}

function template(console: string): string {
  const font = (file: string): string => pathToFileURL(join(console, 'src/app/fonts', file)).href
  return `<!doctype html><meta charset="utf-8"><style>
@font-face { font-family: Inter; font-weight: 100 900; src: url('${font('inter-latin.woff2')}') }
body { margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 84px 88px; background: #fff; color: #1a1b1e; font-family: Inter; border-bottom: 12px solid #2b59c3; display: flex; flex-direction: column }
div { display: flex; align-items: center; gap: 20px; font-size: 38px; font-weight: 650 }
svg { width: 56px; height: 56px }
h1 { margin: auto 0 28px; font-size: 76px; line-height: 84px; letter-spacing: -0.03em; font-weight: 680; text-wrap: balance }
p { margin: 0; font-size: 32px; line-height: 46px; color: #53565c; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden }
</style><div>${readFileSync(join(console, 'public/mark.svg'), 'utf8')}Torana</div><h1></h1><p></p>`
}
