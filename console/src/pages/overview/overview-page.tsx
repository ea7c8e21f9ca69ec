import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function OverviewPage() {
  return <Page title={words.overview.title} />
}
