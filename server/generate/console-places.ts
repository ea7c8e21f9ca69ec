/** console/src/app/places.ts, from the folders of pages: a page is registered when its folder is there. */
import { globSync } from 'node:fs'

export function consolePlaces(pages: string): string {
  const lines = globSync('*/place.ts', { cwd: pages })
    .toSorted()
    .map((path) => `export * from '../pages/${path}'\n`)
  return `/** Every page. Made by \`npm run generate\` from the folders that have a \`place.ts\`. */\n${lines.join('')}`
}
