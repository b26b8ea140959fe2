//! A directed graph in two arrays, and its strongly connected components.

/// The edges between nodes that are numbers from 0 on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Graph {
    /// Where the successors of each node begin, and where those of the last one end.
    starts: Vec<u32>,
    successors: Vec<u32>,
}

impl Graph {
    /// Builds the graph of at least `nodes` nodes with these edges.
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in edges {
            starts[*from as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut successors = vec![0; edges.len()];
        for (from, to) in edges {
            let start = &mut starts[*from as usize];
            *start -= 1;
            successors[*start as usize] = *to;
        }
        Graph { starts, successors }
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the nodes that a node points at, those of later edges first.
    pub(super) fn successors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.successors[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// Strongly connected components in order of completion: callees before callers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    pub of_node: Vec<u32>,
    /// Whether the component has a cycle: more than one node, or a call to itself.
    pub cyclic: Vec<bool>,
    /// The nodes, component by component.
    nodes: Vec<u32>,
    /// Where the nodes of each component end.
    ends: Vec<u32>,
}

impl Components {
    /// Finds the components by Tarjan's algorithm, which completes a component after every
    /// component that it points at. The stack is its own: call chains of 100,000 functions are
    /// legal input.
    pub(super) fn new(graph: &Graph) -> Self {
        let count = graph.len();
        let mut walk = Walk {
            graph,
            found: Components {
                of_node: vec![u32::MAX; count],
                cyclic: Vec::with_capacity(count),
                nodes: Vec::with_capacity(count),
                ends: Vec::with_capacity(count),
            },
            order: vec![u32::MAX; count],
            low: vec![u32::MAX; count],
            next: 0,
            open: Vec::new(),
            stack: Vec::new(),
        };
        for root in 0..count as u32 {
            if walk.order[root as usize] == u32::MAX {
                walk.enter(root);
                walk.run();
            }
        }
        walk.found
    }

    /// Returns the number of components.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if there is no component.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the nodes of a component.
    pub fn nodes(&self, component: usize) -> &[u32] {
        let end = |component: usize| self.ends.get(component).map_or(0, |end| *end as usize);
        let start = component.checked_sub(1).map_or(0, end);
        self.nodes.get(start..end(component)).unwrap_or(&[])
    }

    /// Returns the nodes of each component, callees first.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|component| self.nodes(component))
    }
}

/// Tarjan's algorithm under way.
struct Walk<'g> {
    graph: &'g Graph,
    found: Components,
    /// When each node was entered.
    order: Vec<u32>,
    /// The first of the nodes that each node reaches within its component, as far as known.
    low: Vec<u32>,
    next: u32,
    /// Nodes that were entered and have no component yet.
    open: Vec<u32>,
    /// The nodes from the root to where the walk is, with the successors that are to be looked at.
    stack: Vec<(u32, std::slice::Iter<'g, u32>)>,
}

impl Walk<'_> {
    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.open.push(node);
        self.stack.push((node, self.graph.successors(node).iter()));
    }

    /// Walks all that the node on the stack reaches.
    fn run(&mut self) {
        while let Some((node, successors)) = self.stack.last_mut() {
            let node = *node;
            if let Some(&successor) = successors.next() {
                let (from, to) = (node as usize, successor as usize);
                if self.order[to] == u32::MAX {
                    self.enter(successor);
                } else if self.found.of_node[to] == u32::MAX {
                    self.low[from] = self.low[from].min(self.order[to]);
                }
                continue;
            }
            self.stack.pop();
            let low = self.low[node as usize];
            if let Some((parent, _)) = self.stack.last() {
                let parent = &mut self.low[*parent as usize];
                *parent = low.min(*parent);
            }
            if low == self.order[node as usize] {
                self.complete(node);
            }
        }
    }

    /// Closes the component of which this node was entered first.
    fn complete(&mut self, first: u32) {
        let found = &mut self.found;
        let id = found.ends.len() as u32;
        let start = found.nodes.len();
        while let Some(member) = self.open.pop() {
            found.of_node[member as usize] = id;
            found.nodes.push(member);
            if member == first {
                break;
            }
        }
        let is_cyclic =
            found.nodes.len() - start > 1 || self.graph.successors(first).contains(&first);
        found.cyclic.push(is_cyclic);
        found.ends.push(found.nodes.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(count: usize, edges: &[(u32, u32)]) -> Components {
        Components::new(&Graph::new(count, edges))
    }

    #[test]
    fn callees_complete_before_callers() {
        let found = components(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 4)]);
        assert_eq!(found.of_node[1], found.of_node[2]);
        assert!(found.of_node[3] < found.of_node[1] && found.of_node[1] < found.of_node[0]);
        let cyclic = |node: usize| found.cyclic[found.of_node[node] as usize];
        assert_eq!([0, 1, 3, 4].map(cyclic), [false, true, false, true]);
        let members: Vec<&[u32]> = found.iter().collect();
        assert_eq!(members, [&[3][..], &[2, 1], &[0], &[4]]);
    }

    #[test]
    fn successors_are_those_of_later_edges_first() {
        let graph = Graph::new(3, &[(1, 0), (0, 2), (1, 2), (1, 0)]);
        assert_eq!(graph.successors(0), [2]);
        assert_eq!(graph.successors(1), [0, 2, 0]);
        assert!(graph.successors(2).is_empty());
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_stack() {
        let edges: Vec<_> = (0..99_999).map(|node| (node, node + 1)).collect();
        assert_eq!(components(100_000, &edges).len(), 100_000);
    }
}
