/**
 * Mermaid diagrams, drawn to SVG once, at build time: a browser loads an image instead of a megabyte of script. They keep their natural
 * size, so that the words of a wide one stay readable; its frame scrolls sideways.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const THEMES = ['light', 'dark'] as const
type Theme = (typeof THEMES)[number]

/** Widths of letters are measured here and drawn elsewhere: these three fonts have the same. */
const FONT = 'Arial, Helvetica, "Liberation Sans", sans-serif'
/** Part of the names of the files: a change of the style draws all of them again. */
const STYLE = 7

const COLOURS: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: {
    background: '#ffffff',
    primaryColor: '#eaf0fc',
    primaryBorderColor: '#2b59c3',
    primaryTextColor: '#1a1b1e',
    lineColor: '#53565c',
    secondaryColor: '#eeeeeb',
    tertiaryColor: '#f6f6f4',
    textColor: '#1a1b1e',
    noteBkgColor: '#fbf1db',
    noteTextColor: '#8a5700',
    noteBorderColor: '#8a5700',
  },
  dark: {
    background: '#17181b',
    primaryColor: '#1a2540',
    primaryBorderColor: '#8fb2ff',
    primaryTextColor: '#ececee',
    lineColor: '#acb0b7',
    secondaryColor: '#26282c',
    tertiaryColor: '#121316',
    textColor: '#ececee',
    noteBkgColor: '#2c220f',
    noteTextColor: '#efb549',
    noteBorderColor: '#efb549',
  },
}

export interface Diagram {
  readonly name: string
  readonly source: string
}

export function diagramOf(source: string): Diagram {
  return { name: createHash('sha256').update(`${STYLE}${source}`).digest('hex').slice(0, 12), source }
}

/** Markdown with each diagram as an image, and its source below for readers who cannot see it. */
export function withPictures(markdown: string, base: string): { text: string; diagrams: Diagram[] } {
  const diagrams: Diagram[] = []
  const text = markdown.replaceAll(/^```mermaid\n([\s\S]*?)^```$/gm, (_, source: string) => {
    const diagram = diagramOf(source)
    diagrams.push(diagram)
    const pictures = THEMES.map(
      (theme) =>
        `<a class="diagram-${theme}" href="${base}diagrams/${diagram.name}-${theme}.svg"><img src="${base}diagrams/${diagram.name}-${theme}.svg" alt="Diagram; its text is below" loading="lazy"></a>`,
    )
    return `<figure class="diagram"><div class="diagram-view" role="region" aria-label="Diagram" tabindex="0">${pictures.join('')}</div></figure>\n\n<details class="diagram-source"><summary>The diagram as text</summary>\n\n\`\`\`text\n${source}\`\`\`\n\n</details>`
  })
  return { text, diagrams }
}

/** Draws the diagrams that are missing in `cache`. */
export async function drawDiagrams(diagrams: readonly Diagram[], cache: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const missing = diagrams.filter(({ name }) =>
    THEMES.some((theme) => !existsSync(join(cache, file(name, theme)))),
  )
  if (missing.length === 0) return
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    for (const theme of THEMES) {
      const page = await browser.newPage()
      await page.addScriptTag({ path: mermaidScript() })
      for (const { name, source } of missing) {
        const drawn = await page.evaluate<string>(
          `mermaid.initialize(${JSON.stringify(settingsFor(theme))}), mermaid.render('d${name}', ${JSON.stringify(plain(source))}).then(({ svg }) => svg)`,
        )
        writeFileSync(join(cache, file(name, theme)), drawn)
      }
      await page.close()
    }
  } finally {
    await browser.close()
  }
}

/** Labels are drawn as text, in which HTML has no meaning; line breaks have. */
function plain(source: string): string {
  return source.replaceAll(/<\/?[bi]>/g, '')
}

export function drawnFiles(diagrams: readonly Diagram[]): string[] {
  return diagrams.flatMap(({ name }) => THEMES.map((theme) => file(name, theme)))
}

function file(name: string, theme: Theme): string {
  return `${name}-${theme}.svg`
}

function settingsFor(theme: Theme): object {
  const natural = { useMaxWidth: false, htmlLabels: false }
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    theme: 'base',
    look: 'classic',
    htmlLabels: false,
    fontFamily: FONT,
    themeVariables: {
      ...COLOURS[theme],
      xyChart: { plotColorPalette: '#2b59c3' },
      darkMode: theme === 'dark',
      dropShadow: 'none',
      useGradient: false,
      fontFamily: FONT,
      fontSize: '15px',
    },
    flowchart: natural,
    sequence: {
      ...natural,
      mirrorActors: false,
      actorMargin: 30,
      width: 110,
      height: 45,
      messageFontSize: 15,
      actorFontSize: 15,
      noteFontSize: 14,
    },
    state: natural,
    xyChart: { useMaxWidth: false },
  }
}

function mermaidScript(): string {
  return createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js')
}

export function browserPath(): string {
  const found = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && existsSync(path),
  )
  if (found === undefined)
    throw new Error('Chromium draws diagrams and cards: install it, or set CHROMIUM_PATH')
  return found
}

/** Written size of an SVG, so that the page keeps its place before it is loaded. */
export function sizeOf(path: string): { width: number; height: number } {
  const [, , , width = '0', height = '0'] =
    /viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"/.exec(readFileSync(path, 'utf8')) ?? []
  return { width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) }
}
