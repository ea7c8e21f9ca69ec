import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function InvitePage() {
  return <Page title={words.welcome.title} />
}
