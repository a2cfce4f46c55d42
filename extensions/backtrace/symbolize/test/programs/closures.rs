// Names of Rust: modules, generics, closures.
extern "C" {
    fn print_stack();
}

mod shapes {
    #[inline(never)]
    pub fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 {
        f(n) + 1 // line: apply
    }
}

fn main() {
    let add = |n: i32| {
        unsafe { print_stack() }; // line: closure
        n + 2
    };
    std::process::exit(shapes::apply(add, 1) - 4); // line: main
}
