package adapters

// XMLRule says how an answer in XML is read as the JSON that the contract's paths,
// and the items' own type, speak of. The children of the root element are the
// members of the body. An element with neither attributes nor children is a
// string; any other is an object, with its attributes as "@name" and its text as
// "#text". The path "#text" on a string is the string. An element that occurs
// several times is an array, in the place of the first.
type XMLRule struct {
	// Root is the name of the root element of a list page, without its namespace.
	Root string `json:"root" yaml:"root"`
	// Arrays are paths of elements that are arrays even where they occur once.
	Arrays []Path `json:"arrays,omitempty" yaml:"arrays,omitempty"`
	// Numbers and Booleans are paths of elements and attributes whose text is one.
	// A text that is none stays a string, and a flag, a veto or an item's type that
	// wants a boolean does not find one in it. Paths pass through arrays by name
	// alone, as in Contents.Size.
	Numbers  []Path `json:"numbers,omitempty" yaml:"numbers,omitempty"`
	Booleans []Path `json:"booleans,omitempty" yaml:"booleans,omitempty"`
}
