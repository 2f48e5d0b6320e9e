import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconCalendarMonth, IconInbox } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Post } from '../api/client'
import { ApiError } from '../api/client'
import { Ago } from '../components/Ago'
import { Anchored } from '../components/Anchored'
import { AccountAvatar } from '../components/Avatar'
import { Cause } from '../components/Cause'
import { ColorChoice } from '../components/ColorChoice'
import { useConfirm } from '../components/Confirm'
import { Copy } from '../components/Copy'
import { DayField } from '../components/DayField'
import { DomainControls, DomainStatus, Legend } from '../components/domain'
import { Feed } from '../components/Feed'
import { FormDialog } from '../components/FormDialog'
import { LabelChips, LabelMenu, ManageLabels } from '../components/Labels'
import { LinkAnchor, LinkButton } from '../components/links'
import { Hint } from '../components/Menus'
import { Modal } from '../components/Modal'
import { AccountName, NetworkGlyph, NetworkIcons } from '../components/network'
import { NewsFrame } from '../components/NewsFrame'
import { NoArticle } from '../components/NoArticle'
import { Page } from '../components/Page'
import { Progress } from '../components/Progress'
import { RescheduleMenu } from '../components/Reschedule'
import { RuleBuilder } from '../components/RuleBuilder'
import {
  Broken,
  Empty,
  Failed,
  InlineFailed,
  NotFound,
  NotLoaded,
  Waiting,
  WaitingCards,
  WaitingRows,
} from '../components/states'
import { type AnyStatus, looks, StatusBadge } from '../components/status'
import { Time } from '../components/Time'
import { type Utm, UtmFields } from '../components/Utm'
import { WhenField } from '../components/WhenField'
import { ZoneSelect } from '../components/ZoneSelect'
import { networkName } from '../lib/networks'
import { notifyError, notifySuccess, notifyUndo } from '../lib/notify'
import { defaultRule, type Rule } from '../lib/rule'
import { labels, domain } from './samples'

const Chart = lazy(() => import('../components/Chart'))
const ClockField = lazy(() => import('../components/ClockField'))

const networks = [
  'bluesky',
  'discord',
  'facebook',
  'instagram',
  'linkedin',
  'mastodon',
  'telegram',
  'threads',
  'wordpress',
  'x',
]
const zone = 'Asia/Ho_Chi_Minh'
const hour = 3_600_000
const at = (hours: number) => new Date(Date.now() + hours * hour).toISOString()
const error = new ApiError(503, { code: 'unavailable', detail: 'The database does not answer.' })

/** A component, by its name. */
function Shown({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={name} data-component={name}>
      <Title order={2} size="h5" c="dimmed">
        {name}
      </Title>
      <Group gap="sm" align="flex-start">
        {children}
      </Group>
    </Stack>
  )
}

const wide = { flex: 1, minWidth: 0 } as const

/** All shared components, with values as a newsroom has them. */
export function Components() {
  const [color, setColor] = useState('blue')
  const [day, setDay] = useState('2026-12-24')
  const [clock, setClock] = useState('22:30')
  const [when, setWhen] = useState('2026-12-24T18:00')
  const [rule, setRule] = useState<Rule>({ ...defaultRule, byDay: [{ nth: 0, day: 'MO' }] })
  const [utm, setUtm] = useState<Utm>({ source: 'mastodon' })
  const [place, setPlace] = useState(zone)
  const [opened, setOpened] = useState<'modal' | 'form'>()
  const [anchor, setAnchor] = useState<HTMLElement>()
  const [dialog, ask] = useConfirm()
  const close = () => setOpened(undefined)
  return (
    <main id="main">
      <Page title="Components" lead="Shared components, as the pages use them.">
        {dialog}
        <Stack>
          <Shown name="StatusBadge">
            {(Object.keys(looks) as AnyStatus[]).map((s) => (
              <StatusBadge key={s} status={s} />
            ))}
          </Shown>
          <Shown name="Progress">
            <Stack style={wide}>
              <Progress label="Rebuilding" done={1200} total={4800} at={0} cancel={() => undefined} />
              <Progress label="Reading" done={1200} at={0} />
            </Stack>
          </Shown>
          <Shown name="AccountAvatar">
            {networks.map((n) => (
              <AccountAvatar key={n} name={`Báo ${networkName(n)}`} network={n} size={40} />
            ))}
          </Shown>
          <Shown name="AccountName">
            {networks.map((n) => (
              <AccountName key={n} network={n} handle="@bao-mai" label={n === 'x' ? 'Thể thao' : undefined} />
            ))}
          </Shown>
          <Shown name="NetworkGlyph, NetworkIcons">
            {networks.map((n) => (
              <NetworkGlyph key={n} network={n} size={22} named />
            ))}
            <NetworkIcons targets={networks.map((network) => ({ network, handle: '@bao-mai' }))} />
          </Shown>
          <Shown name="Labels">
            <LabelChips ids={labels.map((l) => l.id)} />
            <LabelMenu posts={[{ id: '1', labels: ['1'] } as Post]} />
            <ManageLabels />
          </Shown>
          <Shown name="Time, Ago">
            <Time at={at(30)} />
            <Time at={at(30)} look="short" />
            <Time at={at(30)} look="day" />
            <Time at={at(30)} look="clock" />
            <Ago at={at(-2)} />
          </Shown>
          <Shown name="Fields">
            <WhenField label="When" value={when} zone={zone} onChange={setWhen} />
            <DayField label="Day" value={day} w={170} onChange={setDay} />
            <Suspense>
              <ClockField label="Quiet from" value={clock} onChange={setClock} />
            </Suspense>
            <ZoneSelect value={place} onChange={setPlace} w={220} />
            <ColorChoice label="Color" value={color} onChange={setColor} clearable />
            <UtmFields value={utm} change={setUtm} label="Tracking parameters" />
          </Shown>
          <Shown name="RuleBuilder">
            <RuleBuilder value={rule} onChange={setRule} starts="2026-12-24T06:30" zone={zone} />
          </Shown>
          <Shown name="Buttons and links">
            <Copy value="https://news.example" />
            <LinkButton to="/calendar">LinkButton</LinkButton>
            <LinkAnchor to="/calendar">LinkAnchor</LinkAnchor>
            <Hint label="A hint">
              <Button variant="default">Hint</Button>
            </Hint>
            <RescheduleMenu id="1" />
          </Shown>
          <Shown name="Dialogs and messages">
            <Button variant="default" onClick={() => setOpened('modal')}>
              Modal
            </Button>
            <Button variant="default" onClick={() => setOpened('form')}>
              FormDialog
            </Button>
            <Button variant="default" onClick={(e) => setAnchor(e.currentTarget)}>
              Anchored
            </Button>
            <Button
              variant="default"
              onClick={() =>
                ask({
                  title: 'Delete Thể thao?',
                  text: 'This cannot be undone.',
                  action: 'Delete',
                  danger: true,
                  run: () => notifySuccess('Deleted.'),
                })
              }
            >
              Confirm
            </Button>
            <Button variant="default" onClick={() => notifyUndo('Moved.', () => notifySuccess('Undone.'))}>
              Notification
            </Button>
            <Button variant="default" onClick={() => notifyError(error)}>
              Error
            </Button>
            <Modal
              opened={opened === 'modal'}
              onClose={close}
              title="Modal"
              closeButtonProps={{ 'aria-label': 'Close' }}
            >
              <Text>A dialog.</Text>
            </Modal>
            <FormDialog form="sample" opened={opened === 'form'} onClose={close} title="FormDialog">
              <Text>A form.</Text>
            </FormDialog>
            {anchor && (
              <Anchored
                to={anchor}
                label="Anchored"
                heading={<Text fw={600}>Anchored</Text>}
                close={() => setAnchor(undefined)}
              >
                <Text>Beside what was clicked.</Text>
              </Anchored>
            )}
          </Shown>
          <Shown name="Chart">
            <div style={wide}>
              <Suspense>
                <Chart
                  label="Views"
                  unit="hour"
                  zone={zone}
                  buckets={Array.from({ length: 24 }, (_, i) => ({ start: at(i - 23), count: 40 + ((i * 37) % 60) }))}
                />
              </Suspense>
            </div>
          </Shown>
          <Shown name="Domains and feeds">
            {(['idle', 'crawling', 'paused'] as const).map((s) => (
              <DomainStatus key={s} status={s} />
            ))}
            <DomainControls domain={domain} />
            <Legend
              of={[
                ['Stored', 1200, 'green'],
                ['Pending', 16, 'gray'],
              ]}
            />
            <Feed id="1" open />
          </Shown>
          <Shown name="Causes">
            <Cause cause={{ code: 'ambiguous', message: 'The network gave no answer.' }} />
            <Cause cause={{ message: 'Validation failed: Text character limit of 500 exceeded' }} />
            <NoArticle detail="no article" reason="extraction_failed" />
          </Shown>
          <Shown name="States">
            <div style={wide}>
              <Waiting />
              <WaitingRows rows={2} height={40} />
              <WaitingCards cards={3} height={60} />
              <Failed error={error} retry={() => undefined} />
              <InlineFailed what="No suggestions:" error={error} retry={() => undefined} />
              <NotLoaded
                what="Comments"
                queries={[{ data: undefined, error, refetch: () => new Promise(() => undefined) }]}
              />
              <Empty
                icon={IconInbox}
                title="No posts"
                text="Posts that you schedule appear here."
                guide="how-to/publish-a-post"
              >
                <Button leftSection={<IconCalendarMonth size={18} aria-hidden />}>New post</Button>
              </Empty>
              <NotFound />
              <Broken error={error} />
            </div>
          </Shown>
          <Shown name="NewsFrame">
            <div style={wide}>
              <NewsFrame title="News">
                <Text>The frame of the pages about news.</Text>
              </NewsFrame>
            </div>
          </Shown>
        </Stack>
      </Page>
    </main>
  )
}
