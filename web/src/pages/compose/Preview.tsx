import { Alert, Box, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { memo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Account, Schemas } from '../../api/client'
import { AccountAvatar } from '../../components/Avatar'
import { displayName, networkName } from '../../components/network'
import { formatPrice, noteText, problemText } from '../../i18n/message'
import { type Draft, partsOf } from './draft'
import { Frame } from './frames/Frame'

type Target = Schemas['TargetPreview']

/** The preview of the post, for one account at a time. */
export const Previews = memo(function Previews({
  targets,
  accounts,
  draft,
  focus,
}: {
  targets: Target[]
  accounts: Account[]
  draft: Draft
  focus?: string
}) {
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<string>()
  const [followed, setFollowed] = useState(focus)
  // Editing an account's version shows that account.
  if (followed !== focus) {
    setFollowed(focus)
    setChosen(focus)
  }
  const tabs = useRef<HTMLDivElement>(null)
  const target = targets.find((x) => x.account_id === chosen) ?? targets[0]
  if (!target) return null
  const account = (id: string) => accounts.find((a) => a.id === id)
  const nameOf = (x: Target) => {
    const a = account(x.account_id)
    return a ? displayName(a) : x.handle
  }
  const step = (by: number) => {
    const i = (targets.indexOf(target) + by + targets.length) % targets.length
    setChosen(targets[i]?.account_id)
    tabs.current?.querySelectorAll<HTMLElement>('[role=tab]')[i]?.focus()
  }
  return (
    <Stack gap="sm">
      {targets.length > 1 && (
        <Group gap={6} role="tablist" aria-label={t('compose.previewSwitch')} ref={tabs}>
          {targets.map((x) => {
            const broken = x.segments.some((s) => s.problems.length > 0)
            return (
              <UnstyledButton
                key={x.account_id}
                role="tab"
                id={`preview-tab-${x.account_id}`}
                aria-controls="preview-panel"
                aria-selected={x === target}
                tabIndex={x === target ? 0 : -1}
                aria-label={`${networkName(x.network)} ${x.handle}${broken ? `, ${t('compose.previewProblem')}` : ''}`}
                title={`${networkName(x.network)} ${x.handle}`}
                className="dl-preview-tab"
                data-switch={x.network}
                onClick={() => setChosen(x.account_id)}
                onKeyDown={(e) => {
                  if (e.key === 'ArrowRight' || e.key === 'ArrowLeft') step(e.key === 'ArrowRight' ? 1 : -1)
                }}
              >
                <AccountAvatar
                  name={nameOf(x)}
                  picture={account(x.account_id)?.avatar}
                  color={account(x.account_id)?.color}
                  network={x.network}
                  size={34}
                />
                {broken && <IconAlertTriangle size={14} className="dl-preview-broken" aria-hidden />}
              </UnstyledButton>
            )
          })}
        </Group>
      )}
      <Box
        {...(targets.length > 1
          ? { role: 'tabpanel', id: 'preview-panel', 'aria-labelledby': `preview-tab-${target.account_id}` }
          : {})}
      >
        <Box
          component="article"
          aria-label={t('compose.previewOf', { handle: target.handle })}
          data-preview={target.network}
        >
          <Frame
            key={target.account_id}
            target={target}
            account={account(target.account_id)}
            parts={partsOf(draft, target.account_id)}
            when={draft.when}
            zone={draft.zone}
          />
          <Notes target={target} />
        </Box>
      </Box>
    </Stack>
  )
})

/** The network's notes and problems about the post. */
function Notes({ target }: { target: Target }) {
  const { t } = useTranslation()
  const problems = target.segments.flatMap((s) => s.problems)
  const notes = [...new Set(target.segments.flatMap((s) => s.notes).map(noteText))]
  return (
    <Stack gap={6} mt="xs">
      {problems.map((p) => (
        <Alert key={p.field + p.code} color="red" variant="light" p={8}>
          <Text size="sm">{problemText(p)}</Text>
        </Alert>
      ))}
      {notes.map((note) => (
        <Group key={note} gap={6} wrap="nowrap" align="flex-start">
          <IconInfoCircle size={14} aria-hidden style={{ flexShrink: 0, marginTop: 2 }} />
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        </Group>
      ))}
      {target.price.micro_usd > 0 && (
        <Text size="xs" c="dimmed" title={target.price.reasons.map(noteText).join('\n')}>
          {t('compose.networkPrice', {
            network: networkName(target.network),
            price: formatPrice(target.price.micro_usd),
          })}
        </Text>
      )}
    </Stack>
  )
}
