module github.com/everypage-go/everypage

go 1.26

require (
	github.com/looplab/fsm v1.0.3
	go.yaml.in/yaml/v4 v4.0.0
)
