import { Alert, Button, Collapse, Group, NumberInput, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import {
  IconCalendarCheck,
  IconChevronDown,
  IconDeviceFloppy,
  IconPlaylistAdd,
  IconRepeat,
  IconRocket,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { memo, useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { RuleBuilder } from '../../components/RuleBuilder'
import { useShortcuts } from '../../components/Shortcuts'
import { Time } from '../../components/Time'
import { WhenField } from '../../components/WhenField'
import { ZoneSelect } from '../../components/ZoneSelect'
import { formatCount, formatPrice, noteText, problemText, warningText } from '../../i18n/message'
import { defaultRule, type Rule, weekday } from '../../lib/rule'
import { networkName } from '../../components/network'
import { confirmNow } from '../../lib/posts'
import { useMe } from '../../lib/session'
import { format, toInstant } from '../../lib/time'
import { BestTimes } from './BestTimes'
import { type Draft, isAhead, isBlank } from './draft'
import { useSend } from './useSend'
import type { useSaving } from './useSaving'

interface Props {
  draft: Draft
  setDraft: (update: (d: Draft) => Draft) => void
  saving: ReturnType<typeof useSaving>
  preview?: Schemas['PostPreview']
  /** Starts with a recurring post. */
  repeat?: boolean
  /** The slot of a queue that the post was created for. */
  slot?: { group: string; when: string }
  /** Parts of the thread are published: the time cannot be changed. */
  begun?: boolean
}

/** The time of a post, its problems, and the buttons that save, submit or schedule it. */
export const Schedule = memo(function Schedule({
  draft,
  setDraft,
  saving,
  preview,
  repeat,
  slot: began,
  begun,
}: Props) {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const [rule, setRule] = useState<Rule | undefined>(repeat ? firstRule(draft.when) : undefined)
  const { send, doing } = useSend(saving, began)
  const needsApproval = me.role === 'author' && me.workspace.authors_need_approval
  const isDraft = (saving.stored?.status ?? 'draft') === 'draft'
  const ofSeries = saving.stored?.series_id !== undefined
  const blocking = (preview?.problems ?? []).filter((p) => !(draft.when === '' && p.field === 'scheduled_time'))
  const blank = isBlank(draft) || draft.accounts.length === 0
  const past = draft.when !== '' && !isAhead(draft)
  const ready = !blank && blocking.length === 0
  const timed = ready && draft.when !== ''
  const main = !isDraft ? 'save' : rule ? 'repeat' : needsApproval ? 'submit' : 'schedule'
  const allowed = main === 'save' ? ready && saving.state !== 'clean' : main === 'repeat' ? timed : timed && !past
  // Why the main action cannot be done yet, unless a problem is shown.
  const why =
    allowed || (!isBlank(draft) && blocking.length > 0)
      ? undefined
      : draft.accounts.length === 0
        ? 'accounts'
        : isBlank(draft)
          ? 'text'
          : draft.when === ''
            ? 'time'
            : past && main !== 'save'
              ? 'past'
              : undefined
  const slot = preview?.next_slot
  const [dialog, ask] = useConfirm()
  const handles = preview?.targets.map((x) => x.handle) ?? []
  const choose = useCallback((when: Draft['when']) => setDraft((d) => ({ ...d, when })), [setDraft])
  const go = () => allowed && !doing && send(main, rule)
  useHotkeys([['mod+Enter', go]], [])
  useShortcuts(t('compose.title'), [{ keys: 'Ctrl+Enter', label: t(`compose.main.${main}`), run: go }])
  const icons = { save: IconDeviceFloppy, repeat: IconRepeat, submit: IconSend, schedule: IconCalendarCheck }
  const Icon = icons[main]
  const tight = tightest(preview)
  return (
    <>
      <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('compose.when')}>
        {dialog}
        <Title order={2} size="h5">
          {t(begun ? 'compose.laterParts' : 'compose.when')}
        </Title>
        {begun ? (
          <Text size="sm">{t('compose.laterPartsText')}</Text>
        ) : (
          <>
            <Group align="flex-start" gap="sm" className="dl-form">
              <WhenField
                label={t(rule ? 'repeat.starts' : 'compose.time')}
                value={draft.when}
                zone={draft.zone}
                error={past && !rule ? t('compose.past') : undefined}
                nextSlot={rule ? undefined : preview?.next_slot?.at}
                onChange={(when) => setDraft((d) => ({ ...d, when }))}
              />
              <ZoneSelect value={draft.zone} onChange={(zone) => setDraft((d) => ({ ...d, zone }))} />
            </Group>
            {draft.when !== '' && draft.zone !== me.workspace.time_zone && (
              <Text size="sm" c="dimmed">
                {t('compose.elsewhere', { zone: me.workspace.time_zone })}{' '}
                <Time at={toInstant(draft.when, draft.zone).toISOString()} />
              </Text>
            )}
            {!rule && <BestTimes accounts={draft.accounts} zone={draft.zone} choose={choose} />}
            {isDraft && !ofSeries && (
              <Switch
                label={t('repeat.title')}
                checked={rule !== undefined}
                onChange={(e) => setRule(e.currentTarget.checked ? firstRule(draft.when) : undefined)}
              />
            )}
            {isDraft && rule && <RuleBuilder value={rule} onChange={setRule} starts={draft.when} zone={draft.zone} />}
            <More draft={draft} setDraft={setDraft} />
          </>
        )}
        {!isBlank(draft) && (preview?.warnings ?? []).length > 0 && (
          <Alert color="yellow" title={t('compose.warnings')} role="status">
            <Stack gap={4}>
              {preview?.warnings.map((w, i) => (
                <Text key={i} size="sm" data-warning={w.code}>
                  {warningText(w)}
                </Text>
              ))}
            </Stack>
          </Alert>
        )}
        {preview && preview.price.micro_usd > 0 && (
          <Text size="sm" c="dimmed" title={preview.price.reasons.map(noteText).join('\n')} data-price>
            {t('compose.price', { price: formatPrice(preview.price.micro_usd) })}
          </Text>
        )}
        <Group gap="xs">
          {isDraft && !needsApproval && !rule && (
            <Button
              variant="default"
              leftSection={<IconRocket size={18} aria-hidden />}
              disabled={!ready}
              loading={doing === 'now'}
              onClick={() => ask({ ...confirmNow(t, handles), run: () => send('now') })}
            >
              {t('compose.now')}
            </Button>
          )}
          {isDraft && saving.stored && (
            <Button
              variant="subtle"
              color="red"
              leftSection={<IconTrash size={18} aria-hidden />}
              loading={doing === 'delete'}
              onClick={() => send('delete')}
            >
              {t('compose.delete')}
            </Button>
          )}
        </Group>
      </Stack>
      {/* The problems, the tightest count and the actions stay in sight, however long the post is. */}
      <Stack gap="xs" className="dl-bar" component="section" aria-label={t('compose.actions')}>
        {!isBlank(draft) && blocking.length > 0 && (
          <Alert color="red" title={t('compose.problems')} role="status" p="xs">
            <Stack gap={4} className="dl-bar-problems" tabIndex={0} role="group" aria-label={t('compose.problems')}>
              {blocking.map((p) => (
                <Text key={p.field + p.code + p.message} size="sm">
                  {problemText(p)}
                </Text>
              ))}
            </Stack>
          </Alert>
        )}
        <Group gap="xs" className="dl-send">
          <Button
            leftSection={<Icon size={18} aria-hidden />}
            disabled={!allowed}
            loading={doing === main}
            onClick={go}
          >
            {t(
              main === 'save' && saving.stored?.status !== 'scheduled' && !begun
                ? 'compose.saveAndSend'
                : `compose.main.${main}`,
            )}
          </Button>
          {isDraft && !rule && slot && (
            <Button
              variant="light"
              leftSection={<IconPlaylistAdd size={18} aria-hidden />}
              disabled={!ready}
              loading={doing === 'queue'}
              onClick={() => send('queue')}
              title={t('compose.queueOf', { name: slot.name })}
              rightSection={
                <Text span size="sm" fw={400} className="dl-numbers" data-next-slot={slot.at}>
                  {format(slot.at, i18n.language, draft.zone, {
                    weekday: 'short',
                    day: 'numeric',
                    month: 'short',
                    hour: '2-digit',
                    minute: '2-digit',
                    hourCycle: 'h23',
                  })}
                </Text>
              }
            >
              {t('compose.queue')}
            </Button>
          )}
          {why && (
            <Text size="sm" c="dimmed" ml="auto" data-why>
              {t(`compose.why.${why}`)}
            </Text>
          )}
          {!why && tight && (
            <Text
              size="sm"
              ml="auto"
              className="dl-numbers"
              c={tight.used > tight.allowed ? 'var(--mantine-color-error)' : 'dimmed'}
              data-tightest={tight.network}
            >
              {networkName(tight.network)} {formatCount(tight.used, i18n.language)} /{' '}
              {formatCount(tight.allowed, i18n.language)}
            </Text>
          )}
        </Group>
      </Stack>
    </>
  )
})

/** The count that is closest to its limit, or farthest beyond it. */
function tightest(preview?: Schemas['PostPreview']) {
  let found: { network: string; used: number; allowed: number } | undefined
  for (const { network, segments } of preview?.targets ?? [])
    for (const { characters: used, characters_allowed: allowed } of segments)
      if (used !== undefined && allowed && (!found || used / allowed > found.used / found.allowed))
        found = { network, used, allowed }
  return found
}

const firstRule = (when: string): Rule => ({
  ...defaultRule,
  byDay: [{ nth: 0, day: weekday(when || new Date().toISOString()) }],
})

/** Advanced settings. */
function More({ draft, setDraft }: Pick<Props, 'draft' | 'setDraft'>) {
  const { t } = useTranslation()
  const [opened, { toggle }] = useDisclosure(draft.dropIfLate > 0 || draft.language !== '')
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={opened}
        onClick={toggle}
        rightSection={
          <IconChevronDown size={16} aria-hidden style={{ transform: opened ? 'rotate(180deg)' : undefined }} />
        }
      >
        {t('compose.more')}
      </Button>
      <Collapse expanded={opened}>
        <Group gap="sm" mt="xs" align="flex-start" className="dl-form">
          <NumberInput
            label={t('compose.dropIfLate')}
            description={t('compose.dropIfLateText')}
            w={{ base: '100%', xs: 300 }}
            min={0}
            max={527_040}
            suffix={` ${t('compose.minutes')}`}
            value={draft.dropIfLate}
            onChange={(n) => setDraft((d) => ({ ...d, dropIfLate: Number(n) || 0 }))}
          />
          <TextInput
            label={t('compose.language')}
            description={t('compose.languageText')}
            w={{ base: '100%', xs: 220 }}
            maxLength={3}
            placeholder="vi"
            value={draft.language}
            onChange={(e) => {
              const language = e.currentTarget.value.toLowerCase().replace(/[^a-z]/g, '')
              setDraft((d) => ({ ...d, language }))
            }}
          />
        </Group>
      </Collapse>
    </div>
  )
}
