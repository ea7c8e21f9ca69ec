import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function RequestsPage() {
  return <Page title={words.requests.title} />
}
