package main

const brokerCommand = "broker"

func runBroker([]string) int { return 1 }
