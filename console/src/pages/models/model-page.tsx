import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function ModelPage() {
  return <Page title={words.models.title} />
}
