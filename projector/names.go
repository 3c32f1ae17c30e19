package projector

// nameBytes is about what a name takes in the memory of a batch beside its text.
const nameBytes = 64

// nameKind is what a name is of. Neighbouring events often have the same names of each
// kind.
type nameKind int

const (
	environmentName nameKind = iota
	releaseName
	serverName
	transactionName
	nameKinds
)

// names are the environments, releases, servers and transactions of a batch, each kept
// once. The name with the number 0 is empty.
type names struct {
	list   []string
	at     map[string]uint32
	latest [nameKinds]uint32
	bytes  int
}

func newNames() names { return names{list: []string{""}, at: map[string]uint32{"": 0}} }

// number returns the number of the name, which the batch keeps from now on.
func (n *names) number(kind nameKind, text []byte) uint32 {
	if latest := n.latest[kind]; n.list[latest] == string(text) {
		return latest
	}
	number, known := n.at[string(text)]
	if !known {
		number = uint32(len(n.list))
		name := string(text)
		n.list = append(n.list, name)
		n.at[name] = number
		n.bytes += nameBytes + len(name)
	}
	n.latest[kind] = number
	return number
}

// name returns the text as a name that the batch keeps once.
func (n *names) name(kind nameKind, text []byte) string { return n.list[n.number(kind, text)] }
