import { Group, Kbd, Stack, Switch, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Modal } from './Modal'
import type { ShortcutGroup } from './Shortcuts'

interface Props {
  groups: ShortcutGroup[]
  on: boolean
  setOn: (on: boolean) => void
  close: () => void
}

/** Commands without keys are for the palette only. */
const withKeys = (groups: ShortcutGroup[]) =>
  groups.map((g) => ({ ...g, all: g.all.filter((s) => s.keys !== undefined) })).filter((g) => g.all.length > 0)

/** The list of shortcuts, and the switch that turns them off. */
export default function ShortcutsDialog({ groups, on, setOn, close }: Props) {
  const { t } = useTranslation()
  return (
    <Modal opened onClose={close} title={t('keys.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack>
        <Switch label={t('keys.on')} checked={on} onChange={(e) => setOn(e.currentTarget.checked)} />
        {withKeys(groups).map((g) => (
          <div key={g.title}>
            <Text fw={600} size="sm" mb={4}>
              {g.title}
            </Text>
            <Table verticalSpacing={4} aria-label={g.title}>
              <Table.Tbody>
                {g.all.map((s) => (
                  <Table.Tr key={s.keys} opacity={on ? 1 : 0.6}>
                    <Table.Td w={110}>
                      <Group gap={4}>
                        {s.keys?.split(' ').map((k, i) => (
                          <Kbd key={i}>{k}</Kbd>
                        ))}
                      </Group>
                    </Table.Td>
                    <Table.Td>{s.label}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
        ))}
      </Stack>
    </Modal>
  )
}
