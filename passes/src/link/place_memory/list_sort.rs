//! The sort of nvlink's lists, which permutes equal elements [list-sort].

/// Sorts as the linker sorts lists [list-sort]. It deals elements alternately onto the fronts of
/// two lists, sorts both and merges; `take` says whether the head of the first list goes next.
/// Equal elements are permuted, which shows in shared memory addresses.
///
/// Runs in O(n log n) comparisons.
pub fn list_sort<T: Copy>(list: &[T], take: &mut impl FnMut(&T, &T) -> bool) -> Vec<T> {
    if list.len() < 2 {
        return list.to_vec();
    }
    let half =
        |parity: usize| -> Vec<T> { list.iter().copied().skip(parity).step_by(2).rev().collect() };
    let first = list_sort(&half(0), take);
    let second = list_sort(&half(1), take);
    let mut merged = Vec::with_capacity(list.len());
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < second.len() {
        if take(&first[i], &second[j]) {
            merged.push(first[i]);
            i += 1;
        } else {
            merged.push(second[j]);
            j += 1;
        }
    }
    merged.extend_from_slice(&first[i..]);
    merged.extend_from_slice(&second[j..]);
    merged
}

/// Does what the list sort does to the slots of texture, sampler and surface headers, which it
/// takes to be equal [list-sort]. Of the two lists the one that got the last element goes first.
///
/// Runs in O(n log n).
pub fn list_sort_equal<T: Copy>(list: &[T]) -> Vec<T> {
    if list.len() < 2 {
        return list.to_vec();
    }
    let half =
        |skip: usize| -> Vec<T> { list.iter().copied().rev().skip(skip).step_by(2).collect() };
    let mut sorted = list_sort_equal(&half(0));
    sorted.extend(list_sort_equal(&half(1)));
    sorted
}

#[cfg(test)]
mod tests {
    use super::list_sort;
    use super::list_sort_equal;

    #[test]
    fn slots_are_permuted_as_measured() {
        let sorted = |n: usize| list_sort_equal(&(0..n).collect::<Vec<_>>());
        assert_eq!(sorted(1), [0]);
        assert_eq!(sorted(2), [1, 0]);
        assert_eq!(sorted(3), [0, 2, 1]);
        assert_eq!(sorted(4), [1, 3, 0, 2]);
        assert_eq!(sorted(5), [4, 0, 2, 1, 3]);
        assert_eq!(sorted(9), [0, 8, 4, 6, 2, 5, 1, 7, 3]);
    }

    #[test]
    fn equal_elements_are_permuted_as_measured() {
        let sorted = |n: usize| list_sort(&(0..n).collect::<Vec<_>>(), &mut |_, _| false);
        assert_eq!(sorted(2), [1, 0]);
        assert_eq!(sorted(3), [1, 0, 2]);
        assert_eq!(sorted(4), [1, 3, 0, 2]);
        assert_eq!(sorted(7), [3, 5, 1, 4, 0, 6, 2]);
    }

    #[test]
    fn a_hundred_thousand_elements_sort() {
        let list: Vec<u32> = (0..100_000)
            .map(|i: u32| i.wrapping_mul(2_654_435_761))
            .collect();
        let sorted = list_sort(&list, &mut |a, b| a > b);
        assert!(sorted.is_sorted_by(|a, b| a >= b));
    }
}
