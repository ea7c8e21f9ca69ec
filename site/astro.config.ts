/** The documentation as a site. `import/` has written its pages and its sidebar before this is read. */
import { readFileSync } from 'node:fs'
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import starlightLinksValidator from 'starlight-links-validator'
import starlightOpenAPI, { openAPISidebarGroups } from 'starlight-openapi'
import type { SidebarGroup } from './import/sidebar.ts'

const sidebar = JSON.parse(
  readFileSync(new URL('.cache/sidebar.json', import.meta.url), 'utf8'),
) as SidebarGroup[]
const { SITE_URL, SITE_BASE = '/' } = process.env

export default defineConfig({
  ...(SITE_URL !== undefined && { site: SITE_URL }),
  base: SITE_BASE,
  integrations: [
    starlight({
      title: 'Torana',
      description: 'A self-hosted, OpenAI-compatible gateway for embeddings and images',
      customCss: ['./src/styles/site.css'],
      sidebar: [
        ...sidebar.map(({ label, items }) => ({ label, items: [...items] })),
        { label: 'API reference', collapsed: true, items: openAPISidebarGroups },
      ],
      plugins: [
        starlightOpenAPI([
          {
            base: 'api/gateway',
            schema: '../contract/gateway.openapi.json',
            sidebar: { label: 'Gateway (OpenAI)', collapsed: true },
          },
          {
            base: 'api/control',
            schema: '../contract/control.openapi.json',
            sidebar: { label: 'Control API', collapsed: true },
          },
        ]),
        starlightLinksValidator({ exclude: ['/files/**', '/*.json', '/llms*.txt'] }),
      ],
    }),
  ],
})
