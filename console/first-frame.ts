/**
 * The navigation and the head of the page as HTML, in both languages: they are there before the programs of the console are.
 * `public/frame.js` puts in the title of the page, in the language of the browser.
 */
import type { Plugin } from 'vite'
import { places as en } from './src/words/en/places.ts'
import { places as zh } from './src/words/zh/places.ts'

/** The places of the navigation, in its order. `app/places.test.ts` compares them: a place that is missing here fails it. */
export const GROUPS = [
  ['overview', 'requests', 'batches', 'models'],
  ['embeddings', 'images'],
  ['usage', 'budgets', 'unknowns'],
  ['upstreams', 'deployments', 'alerts', 'keys', 'audit', 'settings'],
] as const

/** Of places whose address is not their name. */
export const PATHS: Readonly<Record<string, string>> = {
  overview: '',
  embeddings: 'playground/embeddings',
  images: 'playground/images',
}

const ROWS = 8

export function firstFrame(): Plugin {
  return {
    name: 'first-frame',
    transformIndexHtml: (html) =>
      html.replace(
        '<div id="app"></div>',
        `<div id="app">${frame()}</div><script src="./frame.js"></script>`,
      ),
  }
}

function frame(): string {
  const groups = GROUPS.map(
    (places) => `<div class="not-first:mt-8">${places.map((place) => link(place)).join('')}</div>`,
  )
  const row = '<div class="flex h-9 items-center border-b border-line px-6 phone:px-4"></div>'
  return `<div data-first-frame class="flex h-full" aria-busy="true">
<div class="flex w-52 shrink-0 flex-col border-r border-line bg-canvas phone:hidden">
<div class="flex h-12 shrink-0 items-center pt-0.5 pl-[42px] text-[14px] font-semibold">Torana</div>
<nav class="px-2 pt-[90px]">${groups.join('')}</nav>
</div>
<main class="flex min-w-0 flex-1 flex-col bg-surface">
<header class="flex h-12 shrink-0 items-center border-b border-line px-6 phone:h-13 phone:px-4"><h1 class="text-15 font-semibold"></h1></header>
${row.repeat(ROWS)}
</main>
</div>`
}

function link(place: (typeof GROUPS)[number][number]): string {
  const path = PATHS[place] ?? place
  return `<a href="./${path}" data-path="${path}" data-zh="${textOf(zh[place] ?? en[place])}" class="flex h-7 items-center rounded-control pr-2 pl-8 text-ink-2 aria-[current]:bg-selected aria-[current]:font-semibold aria-[current]:text-ink">${textOf(en[place])}</a>`
}

function textOf(title: string): string {
  return title.replaceAll('&', '&amp;')
}
